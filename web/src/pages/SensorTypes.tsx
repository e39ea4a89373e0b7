import { useSubjects } from "../subjects";
import { Field } from "../ui/Form";
import { DeclaredList } from "./Declared";
import type { ListProps } from "./Sensors";

/** What sensors of one kind measure. */
export function SensorTypes({ registry, adding, onDone }: ListProps) {
  const subjects = useSubjects();
  return (
    <DeclaredList
      title="Sensor types"
      thing="sensor type"
      kind="sensor-types"
      items={registry.types}
      adding={adding}
      onDone={onDone}
      required={["name", "subject"]}
      valuesOf={(type) => ({ id: type?.id ?? "", name: type?.name ?? "", subject: type?.subject ?? "", unit: type?.unit ?? "", description: type?.description ?? "" })}
      columns={[
        { title: "Type", cell: (type) => <><strong>{type.name}</strong> <span class="quiet">{type.id}</span></>, class: "name" },
        { title: "Schema", cell: (type) => type.subject },
        { title: "Unit", cell: (type) => type.unit },
        { title: "Description", cell: (type) => type.description, class: "wide" },
        { title: "Site", cell: (type) => type.site },
      ]}
      fields={(changing) => (
        <>
          <Field name="id" label="Id" required readOnly={changing} hint="Short, and never changed" />
          <Field name="name" label="Name" required hint="What people call it" />
          <Field name="subject" label="Schema" required half options={subjects} hint="The Avro subject of its measurements" />
          <Field name="unit" label="Unit" half hint="C, F and K are converted" />
          <Field name="description" label="Description" type="textarea" />
        </>
      )}
    >
      <p>A sensor type says what sensors of one kind measure, and in which unit. Register the first one, with the schema of its measurements.</p>
    </DeclaredList>
  );
}
