import { API, get, remove, sentenceOf, type Schemas } from "../api";
import { useLoad } from "../load";
import { useTalk } from "../ui/Dialog";
import { Badge, Card, Show } from "../ui/Page";
import { Table } from "../ui/Table";

type OpenSession = Schemas["OpenSession"];

/** Who is signed in at this moment, and from where. */
export function Sessions() {
  const { ask, say } = useTalk();
  const sessions = useLoad("sessions", (signal) => get<{ items: OpenSession[] }>(`${API}/sessions`, { everybody: true }, signal), 5_000);
  const end = async (session: OpenSession) => {
    if (!(await ask({ title: `End the session of ${session.name}?`, text: "Its pages go back to the sign-in at once.", action: "End it", destructive: true }))) return;
    await remove(`${API}/sessions/${encodeURIComponent(session.id)}`).then(() => say("The session has ended."), (error) => say(sentenceOf(error)));
    sessions.reload();
  };
  return (
    <Card>
      <Show of={sessions}>
        {({ items }) => (
          <Table
            label="Sessions"
            rows={items}
            keyOf={(session) => session.id}
            columns={[
              { title: "Who", cell: (session) => <strong>{session.name}</strong>, class: "name" },
              { title: "This page", cell: (session) => session.current && <Badge tone="good">this page</Badge>, class: "badge" },
              { title: "Signed in with", cell: (session) => (session.kind === "user" ? "a password" : "a token") },
              { title: "From", cell: (session) => session.address },
              { title: "Since", cell: (session) => new Date(session.began_at).toLocaleString("en-GB"), numeric: true },
              { title: "Until", cell: (session) => new Date(session.ends_at).toLocaleString("en-GB"), numeric: true },
              { title: "Actions", cell: (session) => !session.current && <button type="button" onClick={() => end(session)}>End…</button>, class: "row-end" },
            ]}
          />
        )}
      </Show>
    </Card>
  );
}
