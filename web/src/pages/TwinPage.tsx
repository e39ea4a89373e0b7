import { useEffect, useState } from "preact/hooks";
import { API, address, get, remove, sentenceOf, type Schemas } from "../api";
import { agoMs, count } from "../format";
import { useEvents } from "../events";
import { useLoad } from "../load";
import { go, to } from "../router";
import { useSession } from "../session";
import type { Twin } from "../types";
import { useTalk } from "../ui/Dialog";
import { Badge, Card, Empty, Facts, Page, Show } from "../ui/Page";
import { Table } from "../ui/Table";
import { TwinForm } from "./TwinForm";
import { shown } from "./Twins";

type TwinType = Schemas["TwinType"];
type Transaction = Schemas["Transaction"];

/** One object with its values as they change. */
export function TwinPage({ site, id }: { site: string; id: string }) {
  const { may, live } = useSession();
  const { ask, say } = useTalk();
  const [editing, setEditing] = useState(false);
  const [gone, setGone] = useState(false);
  const path = `${API}/twins/${encodeURIComponent(id)}`;
  const first = useLoad(`${site}/${id}`, (signal) => get<Twin>(path, { site }, signal));
  const [twin, changed] = useLiveTwin(first.data, address(path, { site }), () => setGone(true));
  const type = useLoad(
    twin && may("registry:read") ? `${site}/${twin.type}` : null,
    (signal) => get<TwinType>(`${API}/twin-types/${encodeURIComponent(twin!.type)}`, { site }, signal),
  );
  const isOwn = !live.view?.status || live.view.status.site === site;
  const drop = async () => {
    const text = "Its history stays in the log. If a feed knows it, its next reading makes it again.";
    if (!(await ask({ title: `Delete ${id}?`, text, action: "Delete", destructive: true }))) return;
    await remove<Transaction>(path, { version: twin?.version, headers: { Prefer: "wait=10" } }).then(() => go(to(["twins"])), (error) => say(sentenceOf(error)));
  };
  return (
    <Page
      title={id}
      needs={["twins:read"]}
      back={{ href: to(["twins"]), title: "Twins" }}
      actions={
        twin && may("twins:write") && isOwn && !gone && (
          <>
            <button type="button" class="primary" onClick={() => setEditing(true)}>Change values</button>
            <button type="button" onClick={drop}>Delete</button>
          </>
        )
      }
    >
      {gone && <p class="notice" role="status">The object was deleted, or you may not see it any more.</p>}
      <div class="halves">
        <Card title="Values" id="values">
          <Show of={{ ...first, data: twin }}>{(now) => <Values twin={now} type={type.data} changed={changed} />}</Show>
        </Card>
        <Card title="About" id="about">
          {twin && (
            <Facts
              of={[
                ["Type", twin.type],
                ["Site", twin.site],
                ["Version", count(twin.version)],
                ["Changed", agoMs(twin.updated_ms)],
                ["Made", agoMs(twin.created_ms)],
                ["Owner", twin.owner],
                ["State", twin.deleted_ms ? <Badge tone="fair">marked as deleted</Badge> : <Badge tone="good">there</Badge>],
                ["Last transaction", <code>{twin.transaction}</code>],
              ]}
            />
          )}
        </Card>
      </div>
      {editing && twin && <TwinForm twin={twin} type={type.data} onClose={() => setEditing(false)} />}
    </Page>
  );
}

/** The object as it is, and which values changed last. */
function useLiveTwin(first: Twin | undefined, url: string, onGone: () => void): [Twin | undefined, Set<string>] {
  const [twin, setTwin] = useState<Twin>();
  const [changed, setChanged] = useState(new Set<string>());
  useEffect(() => setTwin(first), [first]);
  useEvents(first ? url : null, ["twin", "gone"], (batch) => {
    if (batch.some((event) => event.name === "gone")) return onGone();
    const next = batch.at(-1)!.data as Twin;
    setTwin((before) => {
      setChanged(new Set(Object.keys(next.values).filter((name) => before && before.values[name] !== next.values[name])));
      return next;
    });
  });
  return [twin, changed];
}

function Values({ twin, type, changed }: { twin: Twin; type?: TwinType; changed: Set<string> }) {
  const rows = Object.entries(twin.values).sort(([one], [other]) => one.localeCompare(other));
  if (!rows.length) return <Empty title="It has no values yet" />;
  const specs = (type?.values ?? {}) as Record<string, Schemas["ValueSpec"]>;
  return (
    <Table
      label="Values"
      rows={rows}
      keyOf={([name]) => name}
      classOf={([name]) => (changed.has(name) ? "changed" : "")}
      columns={[
        { title: "Value", cell: ([name]) => <strong>{name}</strong>, class: "name" },
        { title: "Now", cell: ([name, each]) => `${shown(each)} ${specs[name]?.unit ?? ""}`, numeric: true },
        { title: "About", cell: ([name]) => specs[name]?.description, class: "wide" },
      ]}
    />
  );
}
