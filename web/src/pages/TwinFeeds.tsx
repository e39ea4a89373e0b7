import { useSubjects } from "../subjects";
import type { TwinFeed, TwinType } from "../types";
import { asObject, Field, objects, objectText, type Values } from "../ui/Form";
import { DeclaredList } from "./Declared";

interface Props {
  items: TwinFeed[];
  types: TwinType[];
  adding: boolean;
  onDone: () => void;
}

const SOURCES = [
  { value: "measurements", title: "measurements of sensors" },
  { value: "streams", title: "messages of devices to twins" },
];

/** Where changes of objects come from, besides people and programs. */
export function TwinFeeds({ items, types, adding, onDone }: Props) {
  const subjects = useSubjects();
  return (
    <DeclaredList
      title="Feeds"
      thing="feed"
      verb="Declare"
      kind="twin-feeds"
      items={items}
      adding={adding}
      onDone={onDone}
      required={[]}
      check={check}
      valuesOf={valuesOf}
      specOf={specOf}
      columns={[
        { title: "Feed", cell: (feed) => <><strong>{feed.id}</strong>{feed.description && <p class="quiet">{feed.description}</p>}</>, class: "name" },
        { title: "From", cell: from, class: "wide" },
        { title: "Makes objects of type", cell: (feed) => feed.type ?? "–" },
        { title: "Site", cell: (feed) => feed.site },
      ]}
      fields={(changing, values) => (
        <>
          <Field name="id" label="Id" required half readOnly={changing} hint="Short, and never changed" />
          <Field name="kind" label="Made of" type="select" half options={SOURCES} />
          {values.kind === "streams" ? (
            <Field name="streams" label="Streams" required half hint="* stands for any characters, ? for one" />
          ) : (
            <>
              <Field name="subject" label="Schema" required half options={subjects} hint="The Avro subject of the measurements" />
              <Field name="sensor" label="Sensors" half hint="By their ids; * stands for any characters" />
              <Field name="object" label="Object" half hint="{sensor} and {device} are replaced" />
              <Field name="values" label="Values" type="textarea" rows={3} hint={'As JSON, such as {"heat": "temperature"}: a value and the field that it comes from; without any, every field'} />
            </>
          )}
          <Field name="type" label="Type of new objects" half options={types.map((type) => ({ value: type.id, title: type.name }))} hint="Without it, only objects that are there change" />
          <Field name="description" label="Description" half />
        </>
      )}
    >
      <p>A feed turns measurements, or messages of devices, into values of objects. Declare a type first, then the feed.</p>
    </DeclaredList>
  );
}

function from({ source }: TwinFeed): string {
  return "streams" in source ? `streams ${source.streams}` : `${source.subject} of sensors ${source.sensor} to ${source.object}`;
}

function check(values: Values): Record<string, string> {
  const needed = values.kind === "streams" ? "streams" : "subject";
  return { ...(values[needed]?.trim() ? {} : { [needed]: "Please fill this in" }), ...objects(values, "values") };
}

function valuesOf(feed: TwinFeed | null): Values {
  const source = feed?.source;
  const measured = source && "subject" in source ? source : null;
  return {
    id: feed?.id ?? "",
    kind: source && "streams" in source ? "streams" : "measurements",
    streams: source && "streams" in source ? source.streams : "",
    subject: measured?.subject ?? "",
    sensor: measured?.sensor ?? "*",
    object: measured?.object ?? "{sensor}",
    values: objectText(measured?.values),
    type: feed?.type ?? "",
    description: feed?.description ?? "",
  };
}

function specOf(values: Values): object {
  const measured = { subject: values.subject, sensor: values.sensor, object: values.object, values: asObject(values.values) };
  return {
    description: values.description,
    source: values.kind === "streams" ? { streams: values.streams } : measured,
    type: values.type?.trim() || null,
  };
}
