import { useState } from "preact/hooks";
import { API, post, sentenceOf, type Schemas } from "../api";
import { count } from "../format";
import { Badge, Card } from "../ui/Page";
import { Table } from "../ui/Table";
import { Text } from "../ui/Text";

type Tested = Schemas["QueryTested"];
type Output = Schemas["TestedOutput"];

interface Props {
  yaml: string;
  inputs: string[];
  tables: string[];
  outputs: string[];
  /** The columns of inputs, by their names. */
  columns: Record<string, string[]>;
}

/** Tries a query on a few rows before it is deployed. */
export function QueryTest({ yaml, inputs, tables, outputs, columns }: Props) {
  const [typed, setTyped] = useState<Record<string, string>>({});
  const [tested, setTested] = useState<Tested | null>(null);
  const [refusal, setRefusal] = useState("");
  const [busy, setBusy] = useState(false);
  const text = (kind: string, name: string) => typed[`${kind} ${name}`] ?? (kind === "expected" ? "" : `${columns[name]?.join(",") ?? ""}\n`);
  const texts = (kind: string, names: string[]) => Object.fromEntries(names.map((name) => [name, text(kind, name)]).filter(([, said]) => said?.trim()));

  const test = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setRefusal("");
    setTested(null);
    const body = { yaml, inputs: texts("rows", inputs), tables: texts("rows", tables), expected: texts("expected", outputs) };
    await post<Tested>(`${API}/queries/test`, body).then(setTested, (error) => setRefusal(sentenceOf(error)));
    setBusy(false);
  };
  const area = (kind: string, name: string, label: string) => (
    <div class="field" key={`${kind} ${name}`}>
      <label for={`${kind}-${name}`}>{label}</label>
      <textarea id={`${kind}-${name}`} class="code" rows={4} spellcheck={false} value={text(kind, name)} onInput={(event) => setTyped({ ...typed, [`${kind} ${name}`]: event.currentTarget.value })} />
    </div>
  );
  return (
    <Card title="Test on a few rows" id="test">
      <form class="form" onSubmit={test}>
        <p class="quiet">As CSV, with the names of columns first, or as JSON. What is expected may be left out, and may name some of the columns only.</p>
        <div class="fields">
          {[...inputs, ...tables].map((name) => area("rows", name, `Rows of ${name}`))}
          {outputs.map((name) => area("expected", name, `Expected of ${name}`))}
        </div>
        {refusal && <p class="refusal" role="alert"><Text>{refusal}</Text></p>}
        <div class="dialog-foot">
          {busy && <span class="quiet" role="status">It takes some seconds…</span>}
          <button type="submit" class="primary" disabled={busy}>Test</button>
        </div>
      </form>
      {tested?.passed != null && <p role="status">{tested.passed ? <Badge tone="good">as expected</Badge> : <Badge tone="bad">not as expected</Badge>}</p>}
      {tested?.outputs.map((output) => <Result key={output.name} of={output} />)}
    </Card>
  );
}

function Result({ of }: { of: Output }) {
  const rows = of.rows.map((cells, index) => ({ cells: cells as unknown[], index }));
  return (
    <>
      <h3>{of.name}: {count(of.count)} {of.count === 1 ? "row" : "rows"}</h3>
      {of.differences?.length ? <ul class="lines">{of.differences.map((line) => <li key={line} class="wrong">{line}</li>)}</ul> : null}
      {rows.length > 0 && (
        <Table
          label={`Rows of ${of.name}`}
          rows={rows}
          keyOf={(row) => String(row.index)}
          columns={of.columns.map((title, index) => ({ title, cell: (row: (typeof rows)[number]) => String(row.cells[index] ?? "") }))}
        />
      )}
    </>
  );
}
