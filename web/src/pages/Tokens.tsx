import { useState } from "preact/hooks";
import { API, get, put, remove, sentenceOf, type Schemas } from "../api";
import { useLoad } from "../load";
import { useSession } from "../session";
import { Dialog, useTalk } from "../ui/Dialog";
import { asNumber, Field, Form, named, numbers, type Values } from "../ui/Form";
import { Card, Empty, Show } from "../ui/Page";
import { Secret } from "../ui/Secret";
import { Table } from "../ui/Table";
import type { Roles } from "./Users";

type Token = Schemas["TokenSummary"];
type MadeToken = Schemas["NewToken"];

/** Tokens of programs: made, shown once, revoked. */
export function Tokens({ roles, adding, onClose }: { roles: Roles; adding: boolean; onClose: () => void }) {
  const { may } = useSession();
  const { ask, say } = useTalk();
  const [made, setMade] = useState<MadeToken | null>(null);
  const tokens = useLoad("tokens", (signal) => get<{ items: Token[] }>(`${API}/tokens`, {}, signal));
  const path = (name: string) => `${API}/tokens/${encodeURIComponent(name)}`;
  const grantable = roles.scopes.filter((scope) => may(scope));

  const save = async ({ name, days, ...chosen }: Values) => {
    const scopes = Object.keys(chosen).filter((scope) => chosen[scope] === "true");
    if (!scopes.length) throw new Error("Choose at least one thing that it may do.");
    setMade(await put<MadeToken>(path(name!), { scopes, days: asNumber(days) }));
    onClose();
    tokens.reload();
  };
  const revoke = async (token: Token) => {
    const text = "Whatever uses it is refused from now on, and its open pages end.";
    if (!(await ask({ title: `Revoke ${token.name}?`, text, action: "Revoke", destructive: true }))) return;
    await remove(path(token.name)).then(() => say(`${token.name} is revoked.`), (error) => say(sentenceOf(error)));
    tokens.reload();
  };
  return (
    <Card>
      <Show of={tokens}>
        {({ items }) =>
          items.length ? (
            <Table
              label="Tokens"
              rows={items}
              keyOf={(token) => token.name}
              columns={[
                { title: "Token", cell: (token) => <strong>{token.name}</strong>, class: "name" },
                { title: "May", cell: (token) => (token.scopes.length === roles.scopes.length ? "everything" : token.scopes.join(", ")), class: "wide" },
                { title: "Since", cell: (token) => token.created_at.slice(0, 10), numeric: true },
                { title: "Expires", cell: (token) => token.expires_at?.slice(0, 10) ?? "never", numeric: true },
                { title: "Actions", cell: (token) => <button type="button" onClick={() => revoke(token)} aria-label={`Revoke ${token.name}`}>Revoke</button>, class: "row-end" },
              ]}
            />
          ) : (
            <Empty title="There is no token yet"><p>Programs and the command line show a token. Make the first one.</p></Empty>
          )
        }
      </Show>
      {adding && (
        <Dialog title="New token" onClose={onClose} wide>
          <Form
            initial={{ name: "", days: "90", ...Object.fromEntries(grantable.map((scope) => [scope, "false"])) }}
            action="Make it"
            onCancel={onClose}
            check={(values) => ({ ...named(values, "name"), ...numbers(values, "days") })}
            onSubmit={save}
          >
            <Field name="name" label="Name" required half hint="A known name gets a new secret" />
            <Field name="days" label="Valid for, in days" type="number" half hint="Empty: for ever" />
            <fieldset class="fields checks">
              <legend>What it may do</legend>
              {grantable.map((scope) => <Field key={scope} name={scope} label={scope} type="checkbox" />)}
            </fieldset>
          </Form>
        </Dialog>
      )}
      {made && (
        <Dialog title={`The token ${made.name}`} onClose={() => setMade(null)}>
          <Secret label="Give it to the program that needs it:" text={made.token} />
          <div class="dialog-foot"><button type="button" class="primary" onClick={() => setMade(null)}>Done</button></div>
        </Dialog>
      )}
    </Card>
  );
}
