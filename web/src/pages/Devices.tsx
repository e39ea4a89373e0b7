import { count } from "../format";
import type { Device } from "../types";
import { Field } from "../ui/Form";
import { DeclaredList } from "./Declared";
import type { ListProps } from "./Sensors";

/** Machines and controllers that sensors belong to. */
export function Devices({ registry, adding, onDone }: ListProps) {
  const sensorsOf = (device: Device) => registry.sensors.filter((each) => each.device_id === device.id && each.site === device.site).length;
  return (
    <DeclaredList
      title="Devices"
      thing="device"
      kind="devices"
      items={registry.devices}
      adding={adding}
      onDone={onDone}
      required={["name"]}
      valuesOf={(device) => ({ id: device?.id ?? "", name: device?.name ?? "", location: device?.location ?? "", description: device?.description ?? "" })}
      columns={[
        { title: "Device", cell: (device) => <><strong>{device.name}</strong> <span class="quiet">{device.id}</span></>, class: "name" },
        { title: "Location", cell: (device) => device.location, class: "place" },
        { title: "Description", cell: (device) => device.description, class: "wide" },
        { title: "Site", cell: (device) => device.site },
        { title: "Sensors", cell: (device) => count(sensorsOf(device)), numeric: true },
      ]}
      fields={(changing) => (
        <>
          <Field name="id" label="Id" required readOnly={changing} hint="Short, and never changed" />
          <Field name="name" label="Name" required hint="What people call it" />
          <Field name="location" label="Location" hint="Where it stands, in words" />
          <Field name="description" label="Description" type="textarea" />
        </>
      )}
    >
      <p>A device is a machine or controller that sensors belong to. Register the first one.</p>
    </DeclaredList>
  );
}
