import { useState } from "preact/hooks";
import { address, API, get, post, type Schemas } from "../api";
import { bytes, count } from "../format";
import { useLoad } from "../load";
import { Card, Empty, Page, Show } from "../ui/Page";
import { Table, type Column } from "../ui/Table";
import { Dialog } from "../ui/Dialog";
import { Field, Form, times } from "../ui/Form";
import { SqlCard } from "./SqlCard";

type LakeTable = Schemas["TableSummary"];

/** The tables of the lake, questions to them in SQL, and rows as files. */
export function Lake() {
  const tables = useLoad("lake", (signal) => get<{ items: LakeTable[] }>(`${API}/lake`, {}, signal), 30_000);
  const [sql, setSql] = useState<string | null>(null);
  const [exporting, setExporting] = useState<LakeTable | null>(null);
  const names = tables.data?.items.map((table) => table.name) ?? [];
  const columns: Column<LakeTable>[] = [
    { title: "Table", cell: (table) => <strong>{table.name}</strong>, class: "name" },
    { title: "About", cell: (table) => table.description, class: "wide" },
    { title: "Rows", cell: (table) => count(table.rows), numeric: true },
    { title: "Size", cell: (table) => bytes(table.bytes), numeric: true },
    { title: "Days", cell: (table) => (table.first_day === table.last_day ? (table.first_day ?? "–") : `${table.first_day} to ${table.last_day}`), numeric: true },
    {
      title: "Actions",
      cell: (table) => (
        <span class="row-actions">
          <button type="button" onClick={() => setSql(firstQuestion(table))} aria-label={`Ask ${table.name}`}>Ask</button>
          <button type="button" onClick={() => setExporting(table)} aria-label={`Export ${table.name}`}>Export…</button>
        </span>
      ),
      class: "row-end",
    },
  ];
  return (
    <Page title="Lake" needs={["data:read"]} about="All that ever came, in tables that can be asked in SQL. Nothing here changes them.">
      <Card title="Tables" id="tables">
        <Show of={tables}>
          {({ items }) =>
            items.length ? (
              <Table label="Tables" columns={columns} rows={items} keyOf={(table) => table.name} />
            ) : (
              <Empty title="The lake is empty yet">
                <p>The pipeline writes what came every few seconds. Send something:</p>
                <code>catchment simulate lines --rate 100 --count 10000</code>
              </Empty>
            )
          }
        </Show>
      </Card>
      {names.length > 0 && <SqlCard key={sql} first={sql ?? `SELECT *\nFROM ${names[0]}\nORDER BY time DESC\nLIMIT 100`} isAsked={sql !== null} />}
      {exporting && <Export table={exporting} onClose={() => setExporting(null)} />}
    </Page>
  );
}

function firstQuestion(table: LakeTable): string {
  const chosen = Object.keys(table.columns).filter((name) => !["epoch", "day", "arrived_ms", "delay_ms", "origin_us", "gateway", "timestamp", "sensor_id"].includes(name));
  return `SELECT ${chosen.slice(0, 8).join(", ")}\nFROM ${table.name}\nORDER BY time DESC\nLIMIT 100`;
}

/** Downloads rows of a table; the browser itself takes the file, however large. */
function Export({ table, onClose }: { table: LakeTable; onClose: () => void }) {
  const save = async (values: Record<string, string>) => {
    const { format, since, until, where } = values;
    const link = document.createElement("a");
    link.href = address(`${API}/export/${encodeURIComponent(table.name)}`, { format, since, until, where: where?.trim() });
    link.download = `${table.name}.${format}`;
    // A refusal would be saved as a file, so the condition is tried first.
    if (where?.trim()) await post(`${API}/sql`, { sql: `SELECT 1 FROM ${table.name} WHERE (${where}) LIMIT 0` });
    link.click();
    onClose();
  };
  return (
    <Dialog title={`Export ${table.name}`} onClose={onClose}>
      <Form initial={{ format: "csv", since: "", until: "", where: "" }} action="Download" onCancel={onClose} check={(values) => times(values, "since", "until")} onSubmit={save}>
        <Field name="format" label="Format" type="select" options={[{ value: "csv", title: "CSV" }, { value: "parquet", title: "Parquet" }, { value: "arrow", title: "Arrow" }]} />
        <Field name="since" label="From" half hint="Such as 2026-11-01 or 2026-11-01T08:00; in UTC" />
        <Field name="until" label="Before" half hint="Without it, until now" />
        <Field name="where" label="Only rows for which" hint={"A condition in SQL, such as sensor = 'oslo/oven-1'"} />
      </Form>
    </Dialog>
  );
}
