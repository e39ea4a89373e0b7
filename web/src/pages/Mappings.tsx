import { API, list } from "../api";
import { useLoad } from "../load";
import type { Mapping } from "../types";
import { asObject, Field, objects, objectText, type Values } from "../ui/Form";
import { Show } from "../ui/Page";
import { useSubjects } from "../subjects";
import { DeclaredList } from "./Declared";

const EVERY_MS = 5_000;
const FROM = [
  { value: "stream", title: "the stream's name" },
  { value: "field", title: "a member of the message" },
  { value: "fixed", title: "always the same" },
];

/** How messages of devices become measurements. */
export function Mappings({ adding, onDone }: { adding: boolean; onDone: () => void }) {
  const mappings = useLoad("mappings", (signal) => list<Mapping>(`${API}/mappings`, {}, signal), EVERY_MS);
  const subjects = useSubjects();
  const done = () => {
    mappings.reload();
    onDone();
  };
  return (
    <Show of={mappings}>
      {(items) => (
        <DeclaredList
          title="Mappings"
          thing="mapping"
          verb="Declare"
          kind="mappings"
          items={items}
          adding={adding}
          onDone={done}
          required={["streams", "subject"]}
          check={check}
          valuesOf={valuesOf}
          specOf={specOf}
          columns={[
            { title: "Mapping", cell: (mapping) => <strong>{mapping.id}</strong>, class: "name" },
            { title: "Streams", cell: (mapping) => <code>{mapping.streams}</code>, class: "place" },
            { title: "Become", cell: (mapping) => mapping.subject },
            { title: "Sensor", cell: sensorOf },
            { title: "Written in", cell: (mapping) => mapping.format },
            { title: "Site", cell: (mapping) => mapping.site },
          ]}
          fields={(changing, values) => (
            <>
              <Field name="id" label="Id" required half readOnly={changing} hint="Short, and never changed" />
              <Field name="streams" label="Streams" required half hint="* stands for any characters, ? for one" />
              <Field name="subject" label="Schema" required half options={subjects} hint="The Avro subject of the measurements" />
              <Field name="format" label="Devices write" type="select" half options={["json", "avro"]} />
              <Field name="from" label="The sensor is" type="select" half options={FROM} />
              {values.from === "stream" ? null : <Field name="sensor" label={values.from === "field" ? "Member with the sensor" : "Sensor"} required half hint={values.from === "field" ? "Such as meta.sensor" : "Its id"} />}
              <Field name="timestamp" label="Member with the time" half hint="Without it, when the message arrived" />
              <Field name="unit" label="Time is written in" type="select" half options={["ms", "s", "us", "iso8601"]} />
              <Field name="fields" label="Fields" type="textarea" rows={4} hint={'As JSON, such as {"temperature": "data.t", "unit": {"const": "C"}}; others come from members of their names'} />
            </>
          )}
        >
          <p>A mapping says which streams carry measurements, and where in a message their values stand. Declare the first one, with the schema that they shall have.</p>
        </DeclaredList>
      )}
    </Show>
  );
}

function sensorOf({ sensor }: Mapping): string {
  if (sensor && "field" in sensor) return `member ${sensor.field}`;
  return sensor && "fixed" in sensor ? sensor.fixed : "the stream";
}

function check(values: Values): Record<string, string> {
  const lacking: Record<string, string> = values.from !== "stream" && !values.sensor?.trim() ? { sensor: "Please fill this in" } : {};
  return { ...lacking, ...objects(values, "fields") };
}

function valuesOf(mapping: Mapping | null): Values {
  const sensor = mapping?.sensor;
  const from = sensor && "field" in sensor ? "field" : sensor && "fixed" in sensor ? "fixed" : "stream";
  return {
    id: mapping?.id ?? "",
    streams: mapping?.streams ?? "",
    subject: mapping?.subject ?? "",
    format: mapping?.format ?? "json",
    from,
    sensor: sensor && "field" in sensor ? sensor.field : sensor && "fixed" in sensor ? sensor.fixed : "",
    timestamp: mapping?.timestamp?.field ?? "",
    unit: mapping?.timestamp?.unit ?? "ms",
    fields: objectText(mapping?.fields),
  };
}

function specOf(values: Values): object {
  return {
    streams: values.streams,
    subject: values.subject,
    format: values.format,
    sensor: values.from === "stream" ? { stream: true } : { [values.from!]: values.sensor },
    timestamp: values.timestamp?.trim() ? { field: values.timestamp, unit: values.unit } : null,
    fields: asObject(values.fields),
  };
}
