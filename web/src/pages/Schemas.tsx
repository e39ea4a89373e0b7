import { useState } from "preact/hooks";
import { API, get, post, type Schemas as ApiSchemas } from "../api";
import { count } from "../format";
import { useLoad } from "../load";
import { to, type Route } from "../router";
import { useSession } from "../session";
import { Dialog, useTalk } from "../ui/Dialog";
import { Field, Form, needed, type Values } from "../ui/Form";
import { Card, Empty, Facts, Page, Show } from "../ui/Page";
import { Table, type Column } from "../ui/Table";

type Subject = ApiSchemas["SubjectSummary"];

const COLUMNS: Column<Subject>[] = [
  { title: "Subject", cell: (each) => <a href={to(["schemas", each.subject])}><strong>{each.subject}</strong></a>, class: "name" },
  { title: "Fields", cell: (each) => fieldsOf(each.schema).map((field) => field.name).join(", "), class: "wide" },
  { title: "Versions", cell: (each) => count(each.versions.length), numeric: true },
  { title: "Compatibility", cell: (each) => each.compatibility },
  { title: "Id", cell: (each) => each.id, numeric: true },
];

/** The shapes of measurements, version by version. */
export function Schemas({ route }: { route: Route }) {
  const { may } = useSession();
  const [adding, setAdding] = useState(false);
  const schemas = useLoad("schemas", (signal) => get<{ items: Subject[] }>(`${API}/schemas`, {}, signal), 30_000);
  const chosen = route.path[1];
  const subject = schemas.data?.items.find((each) => each.subject === chosen);
  return (
    <Page
      title={chosen ?? "Schemas"}
      needs={["registry:read"]}
      back={chosen ? { href: to(["schemas"]), title: "Schemas" } : undefined}
      about={chosen ? undefined : "What measurements look like. A new version must go with those before it."}
      actions={may("registry:write") && <button type="button" class="primary" onClick={() => setAdding(true)}>{chosen ? "New version" : "Register a schema"}</button>}
    >
      <Show of={schemas}>
        {({ items }) =>
          chosen ? (
            subject ? <SubjectCards key={chosen} subject={subject} /> : <Empty title={`There is no subject ${chosen}`} />
          ) : (
            <Card>
              {items.length ? (
                <Table label="Subjects" columns={COLUMNS} rows={items} keyOf={(each) => each.subject} />
              ) : (
                <Empty title="No schema is registered yet"><p>A schema names the fields of the measurements, in Avro.</p></Empty>
              )}
            </Card>
          )
        }
      </Show>
      {adding && <SchemaForm subject={subject} onClose={() => { setAdding(false); schemas.reload(); }} />}
    </Page>
  );
}

function SubjectCards({ subject }: { subject: Subject }) {
  const [version, setVersion] = useState(subject.versions.at(-1)!);
  const path = `/schema-registry/subjects/${encodeURIComponent(subject.subject)}/versions/${version}`;
  const shown = useLoad(path, (signal) => get<{ schema: string; id: number }>(path, {}, signal));
  return (
    <Card
      title={`Version ${version}`}
      id="version"
      aside={
        <div class="ranges" role="group" aria-label="Version">
          {subject.versions.map((each) => <button key={each} type="button" aria-pressed={each === version} onClick={() => setVersion(each)}>{each}</button>)}
        </div>
      }
    >
      <Show of={shown}>
        {({ schema, id }) => (
          <>
            <Facts of={[["Id", id], ["Compatibility", subject.compatibility]]} />
            <Table
              label="Fields"
              rows={fieldsOf(schema)}
              keyOf={(field) => field.name}
              columns={[
                { title: "Field", cell: (field) => <strong>{field.name}</strong>, class: "name" },
                { title: "Type", cell: (field) => <code>{typeof field.type === "string" ? field.type : JSON.stringify(field.type)}</code> },
                { title: "About", cell: (field) => field.doc, class: "wide" },
              ]}
            />
            <details><summary>As JSON</summary><pre class="bytes" tabIndex={0}>{pretty(schema)}</pre></details>
          </>
        )}
      </Show>
    </Card>
  );
}

function SchemaForm({ subject, onClose }: { subject?: Subject; onClose: () => void }) {
  const { say } = useTalk();
  const save = async (values: Values) => {
    await post(`/schema-registry/subjects/${encodeURIComponent(values.subject!)}/versions`, { schema: values.schema });
    say(`${values.subject} is registered.`);
    onClose();
  };
  return (
    <Dialog title={subject ? `New version of ${subject.subject}` : "Register a schema"} onClose={onClose} wide>
      <Form
        initial={{ subject: subject?.subject ?? "", schema: pretty(subject?.schema ?? FIRST) }}
        action="Register"
        onCancel={onClose}
        check={(values) => ({ ...needed(values, "subject"), ...isJson(values.schema!) })}
        onSubmit={save}
      >
        <Field name="subject" label="Subject" required readOnly={Boolean(subject)} hint="Such as TemperatureData" />
        <Field name="schema" label="Schema" type="textarea" rows={16} hint="Avro, as JSON. Measurements have sensor_id, timestamp and at least one further field" />
      </Form>
    </Dialog>
  );
}

const FIRST = JSON.stringify({
  type: "record",
  name: "HumidityData",
  fields: [
    { name: "sensor_id", type: "string" },
    { name: "timestamp", type: "long" },
    { name: "humidity", type: "double" },
  ],
});

interface AvroField {
  name: string;
  type: unknown;
  doc?: string;
}

function fieldsOf(schema: string): AvroField[] {
  const read = JSON.parse(schema) as { fields?: AvroField[] };
  return read.fields ?? [];
}

function pretty(schema: string): string {
  return JSON.stringify(JSON.parse(schema), null, 2);
}

function isJson(text: string): Record<string, string> {
  try {
    JSON.parse(text);
    return {};
  } catch (error) {
    return { schema: `Not JSON: ${(error as Error).message}` };
  }
}
