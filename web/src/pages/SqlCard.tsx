import { useEffect, useMemo, useState } from "preact/hooks";
import { API, post, problemOf, Refusal, type Schemas } from "../api";
import { count, value as number } from "../format";
import { Chart, type Line } from "../ui/Chart";
import { Card, Wrong } from "../ui/Page";
import { Table } from "../ui/Table";

type Answer = Schemas["Answer"];

const TONES = ["accent", "fair", "good", "bad", "quiet"];

/** A question in SQL, its answer as table and chart, and as a file. */
export function SqlCard({ first, isAsked }: { first: string; isAsked: boolean }) {
  const [sql, setSql] = useState(first);
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [error, setError] = useState<unknown>();
  const [tookMs, setTookMs] = useState<number | null>(null);
  const [busy, setBusy] = useState(false);

  const ask = async () => {
    setBusy(true);
    const began = performance.now();
    try {
      setAnswer(await post<Answer>(`${API}/sql`, { sql }));
      setError(undefined);
      setTookMs(performance.now() - began);
    } catch (caught) {
      setError(caught);
      setAnswer(null);
    }
    setBusy(false);
  };
  useEffect(() => {
    if (isAsked) void ask();
  }, []);
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void ask();
  };
  return (
    <Card title="Question" id="question">
      <label class="hidden" for="sql">SQL</label>
      <textarea id="sql" class="code" rows={Math.min(14, Math.max(4, sql.split("\n").length + 1))} value={sql} spellcheck={false} onInput={(event) => setSql(event.currentTarget.value)} onKeyDown={keys} aria-describedby="sql-about" />
      <div class="below">
        <p id="sql-about" class="hint">One SELECT, as DuckDB understands it. Ctrl and Enter ask it.</p>
        <div class="actions">
          <button type="button" onClick={() => download(sql, "csv").catch(setError)}>CSV</button>
          <button type="button" onClick={() => download(sql, "parquet").catch(setError)}>Parquet</button>
          <button type="button" class="primary" disabled={busy} onClick={ask}>{busy ? "Asking…" : "Ask"}</button>
        </div>
      </div>
      {error !== undefined && <Wrong error={error} />}
      {answer && <Result answer={answer} tookMs={tookMs ?? 0} />}
    </Card>
  );
}

function Result({ answer, tookMs }: { answer: Answer; tookMs: number }) {
  const rows = useMemo(() => answer.rows.map((cells, index) => ({ cells: cells as unknown[], index })), [answer]);
  return (
    <>
      <ResultChart answer={answer} />
      <p class="quiet" role="status">
        {count(answer.rows.length)} rows in {count(Math.round(tookMs))} ms{answer.complete ? "" : "; there are more, which a file would have"}
      </p>
      <div class="scroll" tabIndex={0} role="region" aria-label="Answer">
        <Table
          label="Answer"
          rows={rows}
          keyOf={(row) => String(row.index)}
          columns={answer.columns.map((name, place) => ({ title: name, cell: (row: { cells: unknown[] }) => cell(row.cells[place]), numeric: isNumber(answer.types[place]) }))}
        />
      </div>
    </>
  );
}

/** Draws numbers over time, if the answer has a column of times and some of numbers. */
function ResultChart({ answer }: { answer: Answer }) {
  const drawn = useMemo(() => drawingOf(answer), [answer]);
  if (!drawn) return null;
  return (
    <>
      <ul class="legend">{drawn.lines.map((line) => <li key={line.title} class={`tone-${line.tone}`}>{line.title}</li>)}</ul>
      <Chart label="The answer over time" timesMs={drawn.timesMs} lines={drawn.lines} />
    </>
  );
}

// Numbers that count or name something are no measurements.
const NO_MEASUREMENT = /(_ms|_us|^timestamp|^sequence|^epoch|^version|^partition|^offset)$/;

function drawingOf(answer: Answer): { timesMs: number[]; lines: Line[] } | null {
  const time = answer.types.findIndex((type) => /timestamp|date/i.test(type));
  const measured = answer.columns.flatMap((name, place) => (isNumber(answer.types[place]) && !NO_MEASUREMENT.test(name) ? [place] : []));
  if (time < 0 || !measured.length || answer.rows.length < 2) return null;
  const rows = ([...answer.rows] as unknown[][]).sort((one, other) => momentOf(one[time]) - momentOf(other[time]));
  const groups = groupsOf(answer, rows);
  const lines = groups.values.flatMap((group) => measured.map((place) => ({ group, place }))).slice(0, TONES.length);
  return {
    timesMs: rows.map((row) => momentOf(row[time])),
    lines: lines.map(({ group, place }, index) => ({
      title: [group, measured.length > 1 || group === null ? answer.columns[place] : ""].filter(Boolean).join(" "),
      tone: TONES[index],
      // Between two rows of one group there are those of others.
      spanGaps: group !== null,
      values: rows.map((row) => (row[place] === null || (group !== null && row[groups.place] !== group) ? null : Number(row[place]))),
    })),
  };
}

/** The texts by which rows belong together, such as sensors, if they are few. */
function groupsOf(answer: Answer, rows: unknown[][]): { place: number; values: (string | null)[] } {
  for (const [place, type] of answer.types.entries()) {
    const values = /string|varchar|utf8/i.test(type) ? [...new Set(rows.map((row) => String(row[place])))] : [];
    if (values.length > 1 && values.length <= TONES.length) return { place, values: values.sort() };
  }
  return { place: -1, values: [null] };
}

function isNumber(type: string | undefined): boolean {
  return /^(u?int|u?tiny|u?small|u?big|huge|double|float|decimal|real|halffloat)/i.test(type ?? "");
}

/** Times of the lake are UTC, whether or not they say so. */
function momentOf(told: unknown): number {
  const text = String(told);
  return new Date(/[zZ]|[+-]\d\d:?\d\d$/.test(text) ? text : `${text.replace(" ", "T")}${text.length > 10 ? "Z" : ""}`).getTime();
}

function cell(told: unknown): string {
  if (told === null || told === undefined) return "–";
  if (typeof told === "number" && !Number.isInteger(told)) return number(told);
  return typeof told === "object" ? JSON.stringify(told) : String(told);
}

async function download(sql: string, format: string): Promise<void> {
  const response = await fetch(`${API}/sql/rows?format=${format}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ sql }) });
  if (!response.ok) throw new Refusal(await problemOf(response));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = `answer.${format}`;
  link.click();
  URL.revokeObjectURL(link.href);
}
