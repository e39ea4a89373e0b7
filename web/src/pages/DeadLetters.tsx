import { useState } from "preact/hooks";
import { API, get, type Page as ApiPage, type Schemas } from "../api";
import { agoMs, bytes, count, moment } from "../format";
import { useLoad } from "../load";
import { to, type Route } from "../router";
import { Badge, Card, Empty, Page, Show } from "../ui/Page";
import { Table, type Column } from "../ui/Table";
import { DeadLetterPage } from "./DeadLetterPage";

type Letter = Schemas["Letter"];
type Reason = Schemas["Reason"];

const EVERY_MS = 5_000;
const PAGE_ITEMS = 100;

/** What could not be processed: by reason, its bytes, and sent again. */
export function DeadLetters({ route }: { route: Route }) {
  const id = route.path[1];
  if (id) return <DeadLetterPage key={id} id={id} />;
  return <LetterLists reason={route.query.get("reason")} topic={route.query.get("topic")} />;
}

function LetterLists({ reason, topic }: { reason: string | null; topic: string | null }) {
  const reasons = useLoad("reasons", (signal) => get<Schemas["ReasonList"]>(`${API}/deadletters/reasons`, {}, signal), EVERY_MS);
  return (
    <Page title="Dead letters" needs={["deadletter:read"]} about="Records that could not be processed. None is lost: each is kept with its bytes and the reason, and can be sent again.">
      <Card title="Reasons" id="reasons">
        <Show of={reasons}>
          {(found) =>
            found.items.length ? (
              <>
                <Table
                  label="Reasons"
                  columns={REASONS}
                  rows={found.items}
                  keyOf={(each) => `${each.reason} ${each.topic}`}
                  classOf={(each) => (each.reason === reason && each.topic === topic ? "chosen" : "")}
                />
                {!found.complete && <p class="quiet">Counted among the newest 10,000.</p>}
              </>
            ) : (
              <Empty title="There are no dead letters"><p>Everything that came could be processed.</p></Empty>
            )
          }
        </Show>
      </Card>
      {(reasons.data?.items.length ?? 0) > 0 && <Letters key={`${reason} ${topic}`} reason={reason} topic={topic} />}
    </Page>
  );
}

const REASONS: Column<Reason>[] = [
  { title: "Reason", cell: (each) => <a href={to(["deadletters"], { reason: each.reason, topic: each.topic })}>{each.reason}</a>, class: "wide strong" },
  { title: "Topic", cell: (each) => each.topic ?? "–", class: "place" },
  { title: "Letters", cell: (each) => count(each.count), numeric: true },
  { title: "Newest", cell: (each) => agoMs(each.newest_ms), numeric: true },
];

function Letters({ reason, topic }: { reason: string | null; topic: string | null }) {
  const [cursors, setCursors] = useState<(string | null)[]>([null]);
  const cursor = cursors.at(-1)!;
  const letters = useLoad(
    `${reason} ${topic} ${cursor}`,
    (signal) => get<ApiPage<Letter>>(`${API}/deadletters`, { reason, topic, cursor, limit: PAGE_ITEMS }, signal),
    cursor ? 0 : EVERY_MS,
  );
  return (
    <Card title={reason ? "Letters with this reason" : "Newest letters"} id="letters" aside={reason && <a href={to(["deadletters"])}>All letters</a>}>
      <Show of={letters}>
        {(page) => (
          <>
            <Table label="Letters" columns={LETTERS} rows={page.items} keyOf={(letter) => letter.id} />
            <div class="pager">
              {cursors.length > 1 && <button type="button" onClick={() => setCursors(cursors.slice(0, -1))}>Newer</button>}
              {page.next && <button type="button" onClick={() => setCursors([...cursors, page.next])}>Older</button>}
            </div>
          </>
        )}
      </Show>
    </Card>
  );
}

const LETTERS: Column<Letter>[] = [
  { title: "Letter", cell: (letter) => <a href={to(["deadletters", letter.id])}><strong>{letter.id}</strong></a> },
  { title: "Sent again", cell: (letter) => letter.replay && <Badge tone={letter.replay.progress === "sent" ? "good" : "fair"}>sent again</Badge>, class: "badge" },
  { title: "Reason", cell: (letter) => letter.reason, class: "wide" },
  { title: "Stream", cell: (letter) => (letter.stream ? `${letter.site} / ${letter.stream}` : (letter.key ?? "–")), class: "place" },
  { title: "Size", cell: (letter) => bytes(letter.size_bytes), numeric: true },
  { title: "At", cell: (letter) => moment(letter.at_ms), numeric: true },
];
