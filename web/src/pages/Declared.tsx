import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { API, put, remove, sentenceOf } from "../api";
import { useSession } from "../session";
import { Dialog, useTalk } from "../ui/Dialog";
import { Form, named, needed, type Values } from "../ui/Form";
import { Card, Empty } from "../ui/Page";
import { Table, type Column } from "../ui/Table";

interface Declared {
  site: string;
  id: string;
  version: number;
}

interface Props<Thing extends Declared> {
  title: string;
  /** What one of them is called. */
  thing: string;
  /** The last part of its address. */
  kind: string;
  items: Thing[];
  columns: Column<Thing>[];
  valuesOf: (thing: Thing | null) => Values;
  required: string[];
  fields: (changing: boolean, values: Values) => ComponentChildren;
  /** What is sent, if it is not the values as they are. */
  specOf?: (values: Values) => object;
  /** Looks at values before they are sent, besides what is required. */
  check?: (values: Values) => Record<string, string>;
  /** What making one is called. */
  verb?: string;
  adding: boolean;
  onDone: () => void;
  children: ComponentChildren;
}

/** A list of things that people declare, each of which can be changed and deleted. */
export function DeclaredList<Thing extends Declared>(props: Props<Thing>) {
  const { title, thing, kind, items, columns, adding, onDone, verb = "Register" } = props;
  const { may, live } = useSession();
  const { ask, say } = useTalk();
  const [chosen, setChosen] = useState<Thing | null>(null);
  const path = (id: string) => `${API}/${kind}/${encodeURIComponent(id)}`;
  const own = live.view?.status?.site;

  const close = () => {
    setChosen(null);
    onDone();
  };
  const save = async ({ id, ...values }: Values) => {
    await put(path(id!), props.specOf?.(values) ?? values, { version: chosen ? chosen.version : 0 });
    say(`${id} is saved.`);
    close();
  };
  const drop = async (item: Thing) => {
    const text = `What refers to it keeps it from being deleted. Its history stays in the audit log.`;
    if (!(await ask({ title: `Delete the ${thing} ${item.id}?`, text, action: "Delete", destructive: true }))) return;
    await remove(path(item.id), { version: item.version }).then(() => say(`${item.id} is deleted.`), (error) => say(sentenceOf(error)));
    onDone();
  };
  const actions: Column<Thing> = {
    title: "Actions",
    cell: (item) =>
      may("registry:write") && (!own || item.site === own) ? (
        <span class="row-actions">
          <button type="button" onClick={() => setChosen(item)} aria-label={`Change ${item.id}`}>Change</button>
          <button type="button" onClick={() => drop(item)} aria-label={`Delete ${item.id}`}>Delete</button>
        </span>
      ) : null,
    class: "row-end",
  };
  return (
    <Card title={title} id={kind}>
      {items.length ? (
        <Table label={title} columns={[...columns, actions]} rows={items} keyOf={(item) => `${item.site}/${item.id}`} />
      ) : (
        <Empty title={`There is no ${thing} yet`}>{props.children}</Empty>
      )}
      {(adding || chosen) && (
        <Dialog title={chosen ? `Change ${chosen.id}` : `${verb} a ${thing}`} onClose={close}>
          <Form
            initial={props.valuesOf(chosen)}
            action={chosen ? "Save" : verb}
            onCancel={close}
            check={(values) => ({ ...named(values, "id"), ...needed(values, ...props.required), ...props.check?.(values) })}
            onSubmit={save}
          >
            {({ values }) => props.fields(Boolean(chosen), values)}
          </Form>
        </Dialog>
      )}
    </Card>
  );
}
