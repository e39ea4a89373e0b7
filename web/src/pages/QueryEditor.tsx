import { useEffect, useMemo, useState } from "preact/hooks";
import { API, get, post, put, sentenceOf, type Schemas } from "../api";
import { useLoad } from "../load";
import { go, to } from "../router";
import { useSession } from "../session";
import { Drawing } from "../queries/Drawing";
import { graphOf, mistakeOf, yamlOf, type DeployedQuery, type Graph, type Mistake, type QuerySpec } from "../queries/spec";
import { useTalk } from "../ui/Dialog";
import { Card, Empty, Facts, Page, Show } from "../ui/Page";
import { QueryTest } from "./QueryTest";

interface Checked {
  problems: string[];
  query: (QuerySpec & { name: string }) | null;
}

type Explanation = Schemas["Explanation"];

interface Look {
  mistakes: Mistake[];
  query: Checked["query"];
  explanation: Explanation | null;
}

const PAUSE_MS = 500;

const EXAMPLE = `name: mean-temperature
about: The mean temperature of each sensor, every ten seconds
inputs:
  readings: {measurements: TemperatureData}
boxes:
  means:
    aggregate: readings
    by: [sensor_id]
    window: {tumbling: 10s}
    values: {mean: avg(temperature), readings: count(*)}
outputs:
  means: {from: means}
`;

/** Writes a query, with what is wrong at the box that it is about; tests and deploys it. */
export function QueryEditor({ site, id }: { site: string | null; id: string | null }) {
  const deployed = useLoad(id, (signal) => get<DeployedQuery>(`${API}/queries/${encodeURIComponent(id!)}`, { site }, signal));
  const title = id ? `Change ${id}` : "New query";
  return (
    <Page title={title} needs={["queries:read"]} back={{ href: id ? to(["queries", "of", site!, id]) : to(["queries"]), title: id ?? "Queries" }}>
      {id ? <Show of={deployed}>{(query) => <Editor first={yamlOf(query)} version={query.version} />}</Show> : <Editor first={EXAMPLE} version={0} />}
    </Page>
  );
}

function Editor({ first, version }: { first: string; version: number }) {
  const { may, live } = useSession();
  const { ask, say } = useTalk();
  const [text, setText] = useState(first);
  const [look, setLook] = useState<Look | null>(null);
  // The last that was right: what a test asks for stays while the text is being changed.
  const [right, setRight] = useState<Look | null>(null);
  const [graph, setGraph] = useState<Graph | null>(null);
  const [refusal, setRefusal] = useState("");

  useEffect(() => {
    let isLatest = true;
    const timer = setTimeout(async () => {
      const found = await lookAt(text).catch((error) => ({ mistakes: [mistakeOf(sentenceOf(error))], query: null, explanation: null }));
      if (!isLatest) return;
      setLook(found);
      if (found.query) setGraph(graphOf(found.query));
      if (found.query && !found.mistakes.length) setRight(found);
    }, PAUSE_MS);
    return () => {
      isLatest = false;
      clearTimeout(timer);
    };
  }, [text]);

  const wrong = useMemo(() => new Map(look?.mistakes.filter((each) => each.at).map((each) => [each.at!, each.text])), [look]);
  const isRight = look !== null && !look.mistakes.length && look.query !== null;
  const deploy = async () => {
    const { name, ...spec } = look!.query!;
    const lost = look!.explanation?.state === "anew";
    if (lost && !(await ask({ title: `Deploy ${name} with new state?`, text: <AnewText of={look!.explanation!} />, action: "Deploy", destructive: true }))) return;
    try {
      await put(`${API}/queries/${encodeURIComponent(name)}`, spec, version ? { version } : {});
      say(`${name} is deployed; it runs within seconds.`);
      go(to(["queries", "of", live.view?.status?.site ?? "local", name]));
    } catch (error) {
      setRefusal(sentenceOf(error));
    }
  };
  return (
    <>
      <div class="editor">
        <Card
          title="Declaration"
          id="declaration"
          aside={may("queries:write") && <button type="button" class="primary" disabled={!isRight} onClick={deploy}>Deploy</button>}
        >
          <label class="hidden" for="yaml">The query in YAML</label>
          <textarea id="yaml" class="code" rows={24} spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value)} aria-describedby="mistakes" aria-invalid={look?.mistakes.length ? "true" : undefined} />
          {refusal && <p class="refusal" role="alert">{refusal}</p>}
        </Card>
        <div class="editor-side">
          <Card title="Graph" id="graph">
            {graph ? <Drawing graph={graph} wrong={wrong} /> : <Empty title="Nothing to draw yet"><p>The graph is drawn as soon as the declaration can be read.</p></Empty>}
          </Card>
          <Card title={look?.mistakes.length ? "What is wrong" : "How it would run"} id="mistakes">
            {look === null ? <p class="loading quiet">Checking…</p> : look.mistakes.length ? <Mistakes of={look.mistakes} onLine={(line) => choose(line)} /> : <Explained of={look.explanation} />}
          </Card>
        </div>
      </div>
      {right && may("queries:write") && <QueryTest yaml={text} {...partsOf(right)} />}
    </>
  );
}

/** What a test of a query asks rows of. */
function partsOf({ query, explanation }: Look) {
  const columns = Object.fromEntries(explanation?.streams.map((stream) => [stream.name, Object.keys(stream.columns)]) ?? []);
  return { inputs: Object.keys(query!.inputs), tables: Object.keys(query!.tables ?? {}), outputs: Object.keys(query!.outputs), columns };
}

async function lookAt(yaml: string): Promise<Look> {
  const checked = await post<Checked>(`${API}/queries/check`, { yaml });
  const mistakes = checked.problems.map(mistakeOf);
  const explanation = mistakes.length ? null : await post<Explanation>(`${API}/queries/explain`, { yaml });
  return { mistakes, query: checked.query, explanation };
}

/** Selects a line of the text. */
function choose(line: number): void {
  const area = document.querySelector<HTMLTextAreaElement>("#yaml")!;
  const lines = area.value.split("\n");
  const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  area.focus();
  area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
}

function Mistakes({ of, onLine }: { of: Mistake[]; onLine: (line: number) => void }) {
  return (
    <div role="alert">
      <ul class="lines">
        {of.map((mistake) => (
          <li key={mistake.text}>
            <span class="line-main wrong">{mistake.text}</span>
            {mistake.line !== null && <button type="button" class="plain" onClick={() => onLine(mistake.line!)}>line {mistake.line}</button>}
          </li>
        ))}
      </ul>
    </div>
  );
}

const STATES: Record<string, string> = { new: "begins empty", kept: "goes on from the state it has", anew: "begins anew: the state cannot be kept" };

function Explained({ of }: { of: Explanation | null }) {
  if (!of) return null;
  return (
    <Facts of={[["Mode", `${of.mode}, ${of.tasks} tasks a stage`], ["Keeps state in", of.stateful.join(", ") || "no box"], ["When deployed", STATES[of.state]]]} />
  );
}

function AnewText({ of }: { of: Explanation }) {
  return (
    <>
      <p>The state of the query that runs now cannot be kept:</p>
      <ul>{of.changes.map((change) => <li key={change}>{change}</li>)}</ul>
    </>
  );
}
