import { count } from "../format";
import type { TwinType } from "../types";
import { asNames, asObject, Field, objects, objectText, type Values } from "../ui/Form";
import { DeclaredList } from "./Declared";

interface Props {
  items: TwinType[];
  adding: boolean;
  onDone: () => void;
}

/** What objects of one type are like, and who may see and change them. */
export function TwinTypes({ items, adding, onDone }: Props) {
  return (
    <DeclaredList
      title="Types"
      thing="type"
      verb="Declare"
      kind="twin-types"
      items={items}
      adding={adding}
      onDone={onDone}
      required={["name"]}
      check={(values) => objects(values, "values")}
      valuesOf={valuesOf}
      specOf={specOf}
      columns={[
        { title: "Type", cell: (type) => <><strong>{type.name}</strong> <span class="quiet">{type.id}</span></>, class: "name" },
        { title: "Values", cell: (type) => Object.keys(type.values ?? {}).join(", ") || "–", class: "wide" },
        { title: "Others allowed", cell: (type) => (type.open ? "yes" : "no") },
        { title: "Changed by", cell: (type) => type.writers?.join(", "), class: "place" },
        { title: "Version", cell: (type) => count(type.version), numeric: true },
        { title: "Site", cell: (type) => type.site },
      ]}
      fields={(changing) => (
        <>
          <Field name="id" label="Id" required half readOnly={changing} hint="Short, and never changed" />
          <Field name="name" label="Name" required half hint="What people call it" />
          <Field name="values" label="Values" type="textarea" rows={6} hint={'As JSON, such as {"pressure": {"kind": "number", "unit": "bar", "max": 16}}; kinds are number, integer, text and boolean'} />
          <Field name="open" label="Objects may have values that are not declared" type="checkbox" />
          <Field name="readers" label="Who may see them" half hint="Patterns with commas between, such as user/*" />
          <Field name="writers" label="Who may change them" half hint="Devices have to be named, as stream/NAME" />
          <Field name="description" label="Description" type="textarea" />
        </>
      )}
    >
      <p>A type says which values its objects have, and in which bounds. Declare the first one; then make objects of it, or let a feed keep them current.</p>
    </DeclaredList>
  );
}

function valuesOf(type: TwinType | null): Values {
  return {
    id: type?.id ?? "",
    name: type?.name ?? "",
    values: objectText(type?.values),
    open: String(type?.open ?? false),
    readers: (type?.readers ?? ["token/*", "user/*"]).join(", "),
    writers: (type?.writers ?? ["token/*", "user/*", "feed/*"]).join(", "),
    description: type?.description ?? "",
  };
}

function specOf(values: Values): object {
  return {
    name: values.name,
    values: asObject(values.values),
    open: values.open === "true",
    readers: asNames(values.readers),
    writers: asNames(values.writers),
    description: values.description,
  };
}
