import { useState } from "preact/hooks";
import { API, get, put, remove, sentenceOf, type Schemas } from "../api";
import { useLoad } from "../load";
import { useSession } from "../session";
import { Dialog, useTalk } from "../ui/Dialog";
import { asNames, Field, Form, named, type Values } from "../ui/Form";
import { Card, Empty, Show } from "../ui/Page";
import { Secret } from "../ui/Secret";
import { Table } from "../ui/Table";

type Kind = "providers" | "consumers";
type Identity = Schemas["HandedOut"];

interface Party {
  kind: Kind;
  name: string;
  topics: string[];
}

const EVERY_MS = 10_000;
const WORDS = { providers: "provider", consumers: "consumer" };

/** Devices that may send, and programs that may read: registered with an identity that is shown once, and removed. */
export function Parties() {
  const { may } = useSession();
  const { ask, say } = useTalk();
  const [adding, setAdding] = useState<Kind | null>(null);
  const [made, setMade] = useState<{ name: string; identity: Identity } | null>(null);
  const parties = useLoad("parties", loadParties, EVERY_MS);
  const path = (kind: Kind, name: string) => `${API}/${kind}/${encodeURIComponent(name)}`;

  const save = async (values: Values) => {
    const body = adding === "consumers" ? { topics: asNames(values.topics) } : {};
    const { name, identity } = await put<{ name: string; identity: Identity | null }>(path(adding!, values.name!), body);
    setAdding(null);
    if (identity) setMade({ name, identity });
    else say(`${name} may read ${values.topics}.`);
    parties.reload();
  };
  const drop = async ({ kind, name }: Party) => {
    const text = kind === "providers" ? "It is refused from now on." : "It can read no more, and its name is never given again.";
    if (!(await ask({ title: `Remove the ${WORDS[kind]} ${name}?`, text, action: "Remove", destructive: true }))) return;
    await remove(path(kind, name)).then(() => say(`${name} is removed.`), (error) => say(sentenceOf(error)));
    parties.reload();
  };
  const buttons = may("parties:write") && (
    <>
      <button type="button" onClick={() => setAdding("providers")}>Add a provider</button>
      <button type="button" onClick={() => setAdding("consumers")}>Add a consumer</button>
    </>
  );
  return (
    <Card title="Who may send and read" id="parties" aside={buttons}>
      <Show of={parties}>
        {(items) =>
          items.length ? (
            <Table
              label="Who may send and read"
              rows={items}
              keyOf={(party) => `${party.kind}/${party.name}`}
              columns={[
                { title: "Name", cell: (party) => <strong>{party.name}</strong>, class: "name" },
                { title: "Is a", cell: (party) => WORDS[party.kind] },
                { title: "May", cell: (party) => (party.kind === "providers" ? "send to the gateway" : `read ${party.topics.join(", ")}`), class: "wide" },
                { title: "Actions", cell: (party) => may("parties:write") && <button type="button" onClick={() => drop(party)} aria-label={`Remove ${party.name}`}>Remove</button>, class: "row-end" },
              ]}
            />
          ) : (
            <Empty title="Nobody is registered yet"><p>A device sends with the certificate of a provider; a program reads from Kafka with that of a consumer. Add the first one.</p></Empty>
          )
        }
      </Show>
      {adding && (
        <Dialog title={`Add a ${WORDS[adding]}`} onClose={() => setAdding(null)}>
          <Form initial={{ name: "", topics: "records" }} action="Add" onCancel={() => setAdding(null)} check={(values) => named(values, "name")} onSubmit={save}>
            <Field name="name" label="Name" required hint={adding === "providers" ? "A known name gets a new certificate, and the old one stops counting" : "Of a known name, what it may read changes"} />
            {adding === "consumers" && <Field name="topics" label="May read" required hint="Kinds with commas between, such as measurements, alerts" />}
          </Form>
        </Dialog>
      )}
      {made && (
        <Dialog title={`The identity of ${made.name}`} onClose={() => setMade(null)} wide>
          <Secret label="Key, certificate and authority, in PEM. Keep them where they are used:" text={[made.identity.key, made.identity.certificate, made.identity.ca].join("")} />
          <div class="dialog-foot"><button type="button" class="primary" onClick={() => setMade(null)}>Done</button></div>
        </Dialog>
      )}
    </Card>
  );
}

async function loadParties(signal: AbortSignal): Promise<Party[]> {
  const of = (kind: Kind) => get<{ items: { name: string; topics?: string[] }[] }>(`${API}/${kind}`, {}, signal);
  const [providers, consumers] = await Promise.all([of("providers"), of("consumers")]);
  return [
    ...providers.items.map(({ name }): Party => ({ kind: "providers", name, topics: [] })),
    ...consumers.items.map(({ name, topics = [] }): Party => ({ kind: "consumers", name, topics })),
  ];
}
