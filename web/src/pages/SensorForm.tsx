import { API, post, put } from "../api";
import type { Sensor } from "../types";
import { Dialog, useTalk } from "../ui/Dialog";
import { Field, Form, named, needed, type Values } from "../ui/Form";
import type { Registry } from "./Sensors";

interface Props {
  registry: Registry;
  sensor?: Sensor;
  onClose: () => void;
}

/** Registers a sensor, or changes one. */
export function SensorForm({ registry, sensor, onClose }: Props) {
  const { say } = useTalk();
  const save = async ({ id, ...spec }: Values) => {
    await put(`${API}/sensors/${encodeURIComponent(id!)}`, spec, { version: sensor ? sensor.version : 0 });
    say(sensor ? `${id} was changed.` : `${id} is registered.`);
    onClose();
  };
  const initial = {
    id: sensor?.id ?? "",
    name: sensor?.name ?? "",
    device_id: sensor?.device_id ?? "",
    sensor_type_id: sensor?.sensor_type_id ?? "",
    description: sensor?.description ?? "",
  };
  return (
    <Dialog title={sensor ? `Change ${sensor.id}` : "Register a sensor"} onClose={onClose}>
      <Form
        initial={initial}
        action={sensor ? "Save" : "Register"}
        onCancel={onClose}
        check={(values) => ({ ...named(values, "id"), ...needed(values, "name", "device_id", "sensor_type_id") })}
        onSubmit={save}
      >
        <Field name="id" label="Id" required readOnly={Boolean(sensor)} hint="As it stands in the messages of the device" />
        <Field name="name" label="Name" required hint="What people call it" />
        <Field name="device_id" label="Device" required half options={registry.devices.map((each) => ({ value: each.id, title: each.name }))} />
        <Field name="sensor_type_id" label="Sensor type" required half options={registry.types.map((each) => ({ value: each.id, title: each.name }))} />
        <Field name="description" label="Description" type="textarea" />
      </Form>
    </Dialog>
  );
}

/** Registers a sensor that was seen; what is left empty follows from its measurements. */
export function ConfirmSensor({ registry, sensor, onClose }: Required<Props>) {
  const { say } = useTalk();
  const types = registry.types.filter((type) => !sensor.seen || type.subject === sensor.seen.subject);
  const save = async (values: Values) => {
    const said = Object.fromEntries(Object.entries(values).filter(([, each]) => each.trim()));
    await post(`${API}/sensors/${encodeURIComponent(sensor.id)}/confirm`, said);
    say(`${sensor.id} is registered.`);
    onClose();
  };
  return (
    <Dialog title={`Confirm ${sensor.id}`} onClose={onClose}>
      <Form
        initial={{ name: "", device_id: "", sensor_type_id: types.length === 1 ? types[0]!.id : "", description: "" }}
        action="Confirm"
        onCancel={onClose}
        onSubmit={save}
      >
        <Field name="name" label="Name" hint={`Without it, ${sensor.id}`} />
        <Field name="device_id" label="Device" half hint="Without it, the one named like its stream" options={registry.devices.map((each) => ({ value: each.id, title: each.name }))} />
        <Field name="sensor_type_id" label="Sensor type" half hint="Without it, the only type of its subject" options={types.map((each) => ({ value: each.id, title: each.name }))} />
        <Field name="description" label="Description" type="textarea" />
      </Form>
    </Dialog>
  );
}
