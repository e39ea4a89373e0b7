import { useState } from "preact/hooks";
import { API, Refusal, get, list, patch, put, type Schemas } from "../api";
import { useLoad } from "../load";
import { useSession } from "../session";
import type { Twin } from "../types";
import { Dialog, useTalk } from "../ui/Dialog";
import { asObject, Field, Form, named, needed, objects, type Values } from "../ui/Form";
import { Badge } from "../ui/Page";

type Transaction = Schemas["Transaction"];
type TwinType = Schemas["TwinType"];
type Spec = Schemas["ValueSpec"];
type Scalar = boolean | number | string;

interface Props {
  /** The object to change; without it, one is made. */
  twin?: Twin;
  type?: TwinType;
  onClose: () => void;
}

const TONES: Record<Transaction["state"], string> = { "under-way": "fair", applied: "good", unchanged: "idle", refused: "bad" };
const AGAIN_MS = 500;

/** Changes values of an object, or makes one, and follows the transaction until it is decided. */
export function TwinForm({ twin, type, onClose }: Props) {
  const { say } = useTalk();
  const { may } = useSession();
  const types = useLoad(!twin && may("registry:read") ? "types" : null, (signal) => list<TwinType>(`${API}/twin-types`, {}, signal));
  const [transaction, setTransaction] = useState<Transaction | null>(null);

  const save = async ({ id, type_: chosen, ...texts }: Values) => {
    const kind = type ?? types.data?.find((each) => each.id === chosen);
    const specs = (kind?.values ?? {}) as Record<string, Spec>;
    const path = `${API}/twins/${encodeURIComponent(twin?.id ?? id!)}`;
    const asked = twin
      ? await patch<Transaction>(path, { values: changesOf(twin, texts, specs) }, { version: twin.version, headers: { Prefer: "wait=2" } })
      : await put<Transaction>(path, { type: chosen, values: asObject(texts.json) }, { version: 0, headers: { Prefer: "wait=2" } });
    const decided = await follow(asked, setTransaction);
    const outcome = decided.objects[0];
    if (decided.state === "refused") throw refused(outcome?.reason || "The change was refused");
    say(decided.state === "unchanged" ? "Nothing was different." : `Applied as version ${outcome?.version ?? "?"}.`);
    onClose();
  };
  return (
    <Dialog title={twin ? `Change ${twin.id}` : "New object"} onClose={onClose}>
      <Form
        initial={twin ? textsOf(twin, type) : { id: "", type_: types.data?.[0]?.id ?? "", json: "" }}
        action={twin ? "Change" : "Make"}
        onCancel={onClose}
        check={(values) => (twin ? {} : { ...named(values, "id"), ...needed(values, "type_"), ...objects(values, "json") })}
        onSubmit={save}
      >
        {twin ? (
          names(twin, type).map((name) => <ValueField key={name} name={name} spec={(type?.values as Record<string, Spec>)?.[name]} />)
        ) : (
          <>
            <Field name="id" label="Id" required />
            <Field name="type_" label="Type" required options={types.data?.map((each) => ({ value: each.id, title: each.name }))} />
            <Field name="json" label="Values" type="textarea" rows={5} hint={'As JSON, such as {"temperature": 21.5, "on": true}'} />
          </>
        )}
      </Form>
      {transaction && (
        <p class="transaction" role="status">
          Transaction <code>{transaction.transaction}</code> <Badge tone={TONES[transaction.state]}>{transaction.state}</Badge>
        </p>
      )}
    </Dialog>
  );
}

function ValueField({ name, spec }: { name: string; spec?: Spec }) {
  const hint = [spec?.description, spec?.unit && `in ${spec.unit}`, spec?.min != null && `from ${spec.min}`, spec?.max != null && `to ${spec.max}`];
  const choices = spec?.one_of?.map(String) ?? (spec?.kind === "boolean" ? ["true", "false"] : undefined);
  return (
    <Field
      name={name}
      label={name}
      half
      type={choices ? "select" : spec?.kind === "number" || spec?.kind === "integer" ? "number" : "text"}
      options={choices && ["", ...choices]}
      hint={hint.filter(Boolean).join(", ") || undefined}
    />
  );
}

/** Asks after a transaction until it is decided. */
async function follow(asked: Transaction, onChange: (transaction: Transaction) => void): Promise<Transaction> {
  let now = asked;
  onChange(now);
  while (now.state === "under-way") {
    await new Promise((resume) => setTimeout(resume, AGAIN_MS));
    now = await get<Transaction>(`${API}/twins/transactions/${encodeURIComponent(now.transaction)}`);
    onChange(now);
  }
  return now;
}

/** The same as if it had been refused while the call waited, so that it is shown in the same place. */
function refused(detail: string): Refusal {
  return new Refusal({ type: "about:blank", title: "Refused", status: 422, detail, code: "invalid-request" });
}

function names(twin: Twin, type?: TwinType): string[] {
  return [...new Set([...Object.keys(type?.values ?? {}), ...Object.keys(twin.values)])].sort();
}

function textsOf(twin: Twin, type?: TwinType): Values {
  return Object.fromEntries(names(twin, type).map((name) => [name, String(twin.values[name] ?? "")]));
}

/** What differs; an empty field takes its value away. */
function changesOf(twin: Twin, texts: Values, specs: Record<string, Spec>): Record<string, Scalar | null> {
  const changed = Object.entries(texts).filter(([name, text]) => text !== String(twin.values[name] ?? ""));
  return Object.fromEntries(changed.map(([name, text]) => [name, text === "" ? null : scalar(text, specs[name], twin.values[name])]));
}

function scalar(text: string, spec: Spec | undefined, before: Scalar | undefined): Scalar {
  const kind = spec?.kind ?? typeof before;
  if (kind === "boolean") return text === "true";
  if ((kind === "number" || kind === "integer") && Number.isFinite(Number(text))) return Number(text);
  return text;
}
