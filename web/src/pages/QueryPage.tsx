import { useMemo, useRef } from "preact/hooks";
import { API, get, remove, sentenceOf, type Schemas } from "../api";
import { count, delay, moment, rate } from "../format";
import { useLoad } from "../load";
import { go, to } from "../router";
import { useSession } from "../session";
import { Drawing } from "../queries/Drawing";
import { graphOf, yamlOf, type DeployedQuery } from "../queries/spec";
import { useTalk } from "../ui/Dialog";
import { Card, Facts, Page, Show } from "../ui/Page";
import { Table, type Column } from "../ui/Table";
import { QueryState } from "./Queries";

type Stage = Schemas["catchment__queries__trace__Stage"];
type Trace = Schemas["Trace"];

const EVERY_MS = 2_000;

/** One query: its graph with rate and delay on each arrow. */
export function QueryPage({ site, id }: { site: string; id: string }) {
  const { may, live } = useSession();
  const { ask, say } = useTalk();
  const path = `${API}/queries/${encodeURIComponent(id)}`;
  const query = useLoad(`${site}/${id}`, (signal) => get<DeployedQuery>(path, { site }, signal), 10_000);
  const isOwn = !live.view?.status || live.view.status.site === site;
  const trace = useLoad(isOwn ? `trace ${id}` : null, (signal) => get<Trace>(`${path}/trace`, {}, signal), EVERY_MS);
  const rates = useRates(trace.data);
  const graph = useMemo(() => query.data && graphOf(query.data), [query.data?.version]);
  const labels = new Map(trace.data?.stages.map((stage) => [stage.name, [`${rate(rates.get(stage.name) ?? null)} /s`, delay(stage.delay_ms)] as [string, string]]));
  const stop = async () => {
    const text = "It ends for good, with its state. Results that it gave stay as long as their topic keeps them.";
    if (!(await ask({ title: `Stop ${id}?`, text, action: "Stop it", destructive: true }))) return;
    await remove(path, { version: query.data?.version }).then(() => go(to(["queries"])), (error) => say(sentenceOf(error)));
  };
  return (
    <Page
      title={id}
      needs={["queries:read"]}
      about={query.data?.about}
      back={{ href: to(["queries"]), title: "Queries" }}
      actions={
        may("queries:write") && isOwn && (
          <>
            <a class="button" href={to(["queries", "edit", site, id])}>Change</a>
            <button type="button" onClick={stop}>Stop…</button>
          </>
        )
      }
    >
      <Card title="Graph" id="graph" aside={<QueryState id={id} />}>
        <Show of={query}>{() => graph && <Drawing graph={graph} labels={labels} slowest={trace.data?.slowest} />}</Show>
        <p class="quiet">Rows a second, and the median time since a record's origin, beside each arrow.</p>
      </Card>
      <Card title="Stages" id="stages">
        <Show of={trace}>{(now) => <Table label="Stages" columns={STAGES} rows={now.stages} keyOf={(stage) => stage.name} classOf={(stage) => (stage.name === now.slowest ? "chosen" : "")} />}</Show>
      </Card>
      <Card title="How it runs" id="how">
        <Show of={trace}>{(now) => <About trace={now} query={query.data} />}</Show>
      </Card>
      {query.data && (
        <Card>
          <details><summary>As YAML</summary><pre class="bytes" tabIndex={0}>{yamlOf(query.data)}</pre></details>
        </Card>
      )}
    </Page>
  );
}

const STAGES: Column<Stage>[] = [
  { title: "Stage", cell: (stage) => <strong>{stage.name}</strong>, class: "name" },
  { title: "Rows", cell: (stage) => count(stage.rows), numeric: true },
  { title: "Delay", cell: (stage) => delay(stage.delay_ms), numeric: true },
  { title: "99 %", cell: (stage) => delay(stage.p99_ms), numeric: true },
  { title: "Added", cell: (stage) => delay(stage.own_ms), numeric: true },
  { title: "Late", cell: (stage) => count(stage.late), numeric: true },
  { title: "Refused", cell: (stage) => (stage.refused ? <strong class="bad">{count(stage.refused)}</strong> : "0"), numeric: true },
];

function About({ trace, query }: { trace: Trace; query?: DeployedQuery }) {
  const objective = trace.objective_ms == null ? "none" : `${delay(trace.objective_ms)}${trace.met == null ? "" : trace.met ? ", met" : ", not met"}`;
  return (
    <Facts
      of={[
        ["State", [trace.state, trace.detail].filter(Boolean).join(": ")],
        ["Delay of its results", delay(trace.delay_ms)],
        ["Objective", objective],
        ["Adds most to it", trace.slowest ?? "nothing to speak of"],
        ["Loses rows at", trace.losing?.join(", ") || "nowhere"],
        ["Runs at", query?.where ?? "both"],
        ["Version", query ? `${count(query.version)}, since ${moment(query.updated_ms)}` : "–"],
      ]}
    />
  );
}

// The node counts in steps of some seconds: looks in between say nothing new.
const STILL_MS = 15_000;

/** Rows a second of each stage, between the last two looks at which something was different. */
function useRates(trace: Trace | undefined): Map<string, number> {
  const last = useRef<{ atMs: number; rows: Map<string, number>; rates: Map<string, number> } | null>(null);
  if (!trace) return new Map();
  const [nowMs, before] = [performance.now(), last.current];
  const rows = new Map(trace.stages.map((stage) => [stage.name, stage.rows]));
  const isDifferent = [...rows].some(([name, count]) => before?.rows.get(name) !== count);
  if (before && !isDifferent && nowMs - before.atMs < STILL_MS) return before.rates;
  const seconds = before ? (nowMs - before.atMs) / 1_000 : 1;
  const known = [...rows].filter(([name]) => before?.rows.has(name));
  const rates = new Map(known.map(([name, count]) => [name, Math.max(0, (count - before!.rows.get(name)!) / seconds)]));
  last.current = { atMs: nowMs, rows, rates };
  return rates;
}
