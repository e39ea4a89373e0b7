import { createContext, type ComponentChildren } from "preact";
import { useContext, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Refusal, sentenceOf } from "../api";
import { Text } from "./Text";

export type Values = Record<string, string>;

interface FormState {
  values: Values;
  errors: Record<string, string>;
  set: (name: string, value: string) => void;
}

const FormContext = createContext<FormState | null>(null);

interface FormProps {
  initial: Values;
  action: string;
  /** Sends the values; what it throws is shown, at the fields if it names them. */
  onSubmit: (values: Values) => Promise<void>;
  /** Looks at the values before they are sent: sentences by name of field. */
  check?: (values: Values) => Record<string, string>;
  onCancel?: () => void;
  children: ComponentChildren | ((state: FormState) => ComponentChildren);
}

/**
 * Fields, and what is wrong with them at their place. What nobody typed into stays as `initial` has it, which
 * may come late or change; what was typed stays as it is.
 */
export function Form({ initial, action, onSubmit, check, onCancel, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [typed, setTyped] = useState<Values>({});
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [attempts, setAttempts] = useState(0);
  const [refusal, setRefusal] = useState("");
  const [busy, setBusy] = useState(false);

  // Once an attempt, and before anything else happens: whoever corrects one field must not be taken to another.
  useLayoutEffect(() => {
    form.current!.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [attempts]);

  const values = { ...initial, ...typed };
  const set = (name: string, changed: string) => {
    setTyped((before) => ({ ...before, [name]: changed }));
    setErrors(({ [name]: _, ...rest }) => rest);
  };
  const show = (atFields: Record<string, string>, rest: string) => {
    setErrors(atFields);
    setRefusal(rest);
    setAttempts((before) => before + 1);
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    const found = check?.(values) ?? {};
    show(found, "");
    if (Object.keys(found).length) return;
    setBusy(true);
    try {
      await onSubmit(values);
    } catch (error) {
      show(...placed(error, Object.keys(values)));
    }
    setBusy(false);
  };

  const state = { values, errors, set };
  return (
    <FormContext.Provider value={state}>
      <form ref={form} class="form" onSubmit={submit} noValidate>
        {refusal && <p class="refusal" role="alert"><Text>{refusal}</Text></p>}
        <div class="fields">{typeof children === "function" ? children(state) : children}</div>
        <div class="dialog-foot">
          {onCancel && <button type="button" onClick={onCancel}>Cancel</button>}
          <button type="submit" class="primary" disabled={busy}>{action}</button>
        </div>
      </form>
    </FormContext.Provider>
  );
}

/** Parts what the API said into sentences at the fields that they name, and the rest. */
export function placed(error: unknown, names: string[]): [Record<string, string>, string] {
  if (!(error instanceof Refusal)) return [{}, sentenceOf(error)];
  const atFields: Record<string, string> = {};
  const rest: string[] = [];
  for (const part of error.problem.detail.split("; ")) {
    const match = /^(?:body\.)?([\w.]+): (?:Value error, )?(.*)$/s.exec(part);
    const name = names.find((each) => each === match?.[1] || match?.[1]?.startsWith(`${each}.`) || match?.[1]?.endsWith(`.${each}`));
    if (name && match) atFields[name] = match[2]!;
    else rest.push(part.replace(/^body: (Value error, )?/, ""));
  }
  if (rest.length && error.problem.remedy && !error.problem.remedy.includes("openapi.json")) rest.push(error.problem.remedy);
  return [atFields, rest.join(". ")];
}

interface FieldProps {
  name: string;
  label: string;
  hint?: ComponentChildren;
  required?: boolean;
  type?: "text" | "number" | "password" | "textarea" | "select" | "checkbox";
  /** What can be chosen, or, of a text, what is suggested. */
  options?: (string | { value: string; title: string })[];
  half?: boolean;
  readOnly?: boolean;
  rows?: number;
}

export function Field({ name, label, hint, required, type = "text", options, half, readOnly, rows }: FieldProps) {
  const { values, errors, set } = useContext(FormContext)!;
  const id = `field-${name}`;
  const error = errors[name];
  const shared = {
    id,
    name,
    required,
    readOnly,
    "aria-invalid": error ? ("true" as const) : undefined,
    "aria-describedby": error || hint ? `${id}-about` : undefined,
  };
  const onInput = (event: { currentTarget: { value: string } }) => set(name, event.currentTarget.value);
  return (
    <div class={`field ${half ? "half" : ""} ${type === "checkbox" ? "check" : ""}`}>
      <label for={id}>
        {label}
        {required && <span class="quiet" aria-hidden="true"> needed</span>}
      </label>
      {type === "checkbox" ? (
        <input {...shared} type="checkbox" checked={values[name] === "true"} onInput={(event) => set(name, String(event.currentTarget.checked))} />
      ) : type === "textarea" ? (
        <textarea {...shared} rows={rows ?? 3} value={values[name]} onInput={onInput} spellcheck={false} />
      ) : type === "select" ? (
        <select {...shared} value={values[name]} onInput={onInput}>
          {options?.map((option) => <Option key={typeof option === "string" ? option : option.value} option={option} now={values[name]} />)}
        </select>
      ) : type === "password" ? (
        <input {...shared} type="password" value={values[name]} onInput={onInput} autocomplete="new-password" />
      ) : options ? (
        <input {...shared} list={`${id}-options`} value={values[name]} onInput={onInput} autocomplete="off" spellcheck={false} />
      ) : (
        <input {...shared} inputMode={type === "number" ? "decimal" : "text"} value={values[name]} onInput={onInput} autocomplete="off" spellcheck={false} />
      )}
      {options && type === "text" && (
        <datalist id={`${id}-options`}>
          {options.map((option) => <Option key={typeof option === "string" ? option : option.value} option={option} />)}
        </datalist>
      )}
      {(error || hint) && <p id={`${id}-about`} class={error ? "wrong" : "hint"}>{error ?? hint}</p>}
    </div>
  );
}

function Option({ option, now }: { option: string | { value: string; title: string }; now?: string }) {
  const { value, title } = typeof option === "string" ? { value: option, title: option } : option;
  return <option value={value} selected={value === now}>{title}</option>;
}

/** Checks that are the same everywhere. */
export function needed(values: Values, ...names: string[]): Record<string, string> {
  return Object.fromEntries(names.filter((name) => !values[name]?.trim()).map((name) => [name, "Please fill this in"]));
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** A name that can stand in topics, paths and certificates. */
export function named(values: Values, name: string): Record<string, string> {
  if (!values[name]?.trim()) return needed(values, name);
  return NAME.test(values[name]) ? {} : { [name]: "1 to 64 letters, digits, dots, hyphens and underscores, with a letter or digit first" };
}

export function numbers(values: Values, ...names: string[]): Record<string, string> {
  const wrong = names.filter((name) => values[name]?.trim() && !Number.isFinite(Number(values[name])));
  return Object.fromEntries(wrong.map((name) => [name, "A number, such as 21.5"]));
}

export function times(values: Values, ...names: string[]): Record<string, string> {
  const wrong = names.filter((name) => values[name]?.trim() && Number.isNaN(Date.parse(values[name])));
  return Object.fromEntries(wrong.map((name) => [name, "A time, such as 2026-11-01T08:00"]));
}

/** Whether a text is JSON with names and values; nothing is an empty object. */
export function objects(values: Values, ...names: string[]): Record<string, string> {
  const wrong = names.map((name): [string, string] => [name, mistakeIn(values[name])]).filter(([, mistake]) => mistake);
  return Object.fromEntries(wrong);
}

function mistakeIn(text: string | undefined): string {
  try {
    const read: unknown = JSON.parse(text?.trim() || "{}");
    return typeof read === "object" && read !== null && !Array.isArray(read) ? "" : "An object in braces";
  } catch (error) {
    return `Not JSON: ${(error as Error).message}`;
  }
}

export function asObject(text: string | undefined): Record<string, unknown> {
  return JSON.parse(text?.trim() || "{}");
}

/** An object as a person reads it; nothing if it is empty. */
export function objectText(thing: object | null | undefined): string {
  return thing && Object.keys(thing).length ? JSON.stringify(thing, (_, value) => value ?? undefined, 2) : "";
}

/** Names with commas between. */
export function asNames(text: string | undefined): string[] {
  return (text ?? "").split(",").map((each) => each.trim()).filter(Boolean);
}

export function asNumber(text: string | undefined): number | null {
  return text?.trim() ? Number(text) : null;
}
