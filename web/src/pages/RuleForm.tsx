import { API, put } from "../api";
import type { Rule } from "../types";
import { Dialog, useTalk } from "../ui/Dialog";
import { asNames, asNumber, Field, Form, named, needed, numbers, type Values } from "../ui/Form";

const SELECTED = ["sensor", "sensor_type", "device", "site"] as const;

/** Declares a rule, or changes one. */
export function RuleForm({ rule, onClose }: { rule: Rule | null; onClose: () => void }) {
  const { say } = useTalk();
  const save = async (values: Values) => {
    await put(`${API}/rules/${encodeURIComponent(values.id!)}`, specOf(values), { version: rule ? rule.version : 0 });
    say(`${values.id} is saved; it judges the next reading.`);
    onClose();
  };
  return (
    <Dialog title={rule ? `Change ${rule.id}` : "New rule"} onClose={onClose} wide>
      <Form initial={valuesOf(rule)} action={rule ? "Save" : "Declare"} onCancel={onClose} check={check} onSubmit={save}>
        {({ values }) => (
          <>
            <Field name="id" label="Id" required half readOnly={Boolean(rule)} hint="Such as oven-hot" />
            <Field name="field" label="Field" required half hint="Of the measurements, such as temperature" />
            <Field name="direction" label="Raise when it is" type="select" half options={["above", "below"]} />
            <Field name={values.direction!} label="Threshold" type="number" required half />
            <Field name="hysteresis" label="Hysteresis" type="number" half hint={hysteresisHint(values)} />
            <Field name="unit" label="Unit" half hint="Readings in C, F and K are converted to it" />
            <Field name="min_duration_s" label="Lasting at least, in seconds" type="number" half hint="0: the first reading raises it" />
            <Field name="lasting_every_s" label="Say again every, in seconds" type="number" half hint="0: never" />
            <fieldset class="fields">
              <legend>Which sensors</legend>
              <Field name="select.sensor" label="Sensor" half hint="* stands for any characters" />
              <Field name="select.sensor_type" label="Sensor type" half />
              <Field name="select.device" label="Device" half />
              <Field name="select.site" label="Site" half hint="With none of them: all sensors" />
            </fieldset>
            <Field name="channels" label="Channels" half hint="Names with commas between; without any, all" />
            <Field name="message" label="Message" half hint="Without it, a usual sentence" />
            <Field name="description" label="Description" hint="What the rule is for" />
            <Field name="enabled" label="Watching" type="checkbox" />
          </>
        )}
      </Form>
      {rule && <p class="quiet">A change ends an alert of this rule that is open; the next reading decides anew.</p>}
    </Dialog>
  );
}

function valuesOf(rule: Rule | null): Values {
  const number = (value: number | null | undefined) => (value == null ? "" : String(value));
  return {
    id: rule?.id ?? "",
    field: rule?.field ?? "",
    direction: rule?.below != null ? "below" : "above",
    above: number(rule?.above),
    below: number(rule?.below),
    hysteresis: number(rule?.hysteresis ?? 0),
    unit: rule?.unit ?? "",
    min_duration_s: number(rule?.min_duration_s ?? 0),
    lasting_every_s: number(rule?.lasting_every_s ?? 60),
    channels: rule?.channels?.join(", ") ?? "",
    message: rule?.message ?? "",
    description: rule?.description ?? "",
    enabled: String(rule?.enabled ?? true),
    ...Object.fromEntries(SELECTED.map((name) => [`select.${name}`, rule?.select?.[name] ?? ""])),
  };
}

function specOf(values: Values): object {
  const limit = values.direction!;
  const chosen = SELECTED.map((name) => [name, values[`select.${name}`]?.trim()]).filter(([, pattern]) => pattern);
  return {
    field: values.field,
    [limit]: asNumber(values[limit]),
    hysteresis: asNumber(values.hysteresis) ?? 0,
    unit: values.unit!.trim() || null,
    min_duration_s: asNumber(values.min_duration_s) ?? 0,
    lasting_every_s: asNumber(values.lasting_every_s) ?? 0,
    channels: asNames(values.channels),
    message: values.message,
    description: values.description,
    enabled: values.enabled === "true",
    select: Object.fromEntries(chosen),
  };
}

function check(values: Values): Record<string, string> {
  const limit = values.direction!;
  return {
    ...numbers(values, limit, "hysteresis", "min_duration_s", "lasting_every_s"),
    ...named(values, "id"),
    ...needed(values, "field", limit),
    ...(Number(values.hysteresis) < 0 ? { hysteresis: "0 or more" } : {}),
  };
}

function hysteresisHint(values: Values): string {
  const [limit, back] = [asNumber(values[values.direction!]), asNumber(values.hysteresis)];
  if (limit === null || !back || !Number.isFinite(limit + back)) return "How far back a value has to be for the end";
  return values.direction === "above" ? `It ends below ${limit - back}` : `It ends above ${limit + back}`;
}
