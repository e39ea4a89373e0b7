// A query as the API tells of it, as a graph, and as YAML.

export type Box = Record<string, unknown>;

export interface QuerySpec {
  about?: string;
  where?: string;
  inputs: Record<string, Record<string, unknown>>;
  tables?: Record<string, Record<string, unknown>>;
  boxes?: Record<string, Box>;
  outputs: Record<string, Record<string, unknown>>;
  objective?: { delay_ms: number } | null;
}

export interface DeployedQuery extends QuerySpec {
  id: string;
  site: string;
  version: number;
  updated_ms: number;
}

export interface Node {
  id: string;
  kind: string;
  title: string;
  detail: string;
}

export interface Arrow {
  from: string;
  to: string;
  /** The part of a split that it carries. */
  part: string;
}

export interface Graph {
  nodes: Node[];
  arrows: Arrow[];
}

const KINDS = ["filter", "map", "split", "union", "aggregate", "top", "join"];
const SOURCES = ["records", "measurements", "results", "events", "alerts", "twin-history", "registry", "twins", "lake"];

/** What stands in the graph: inputs, tables, boxes, and outputs, named as a trace names them. */
export function graphOf(query: QuerySpec): Graph {
  const boxes = Object.entries(query.boxes ?? {});
  const outputs = Object.entries(query.outputs);
  const nodes = [
    ...Object.entries(query.inputs).map(([id, input]) => source(id, "input", input)),
    ...Object.entries(query.tables ?? {}).map(([id, table]) => source(id, "table", table)),
    ...boxes.map(([id, box]) => ({ id, kind: kindOf(box), title: id, detail: detailOf(box) })),
    ...outputs.map(([name, output]) => ({ id: `output ${name}`, kind: "output", title: name, detail: `to ${output.to ?? "results"}` })),
  ];
  const known = new Set(nodes.map((node) => node.id));
  const arrows = [
    ...boxes.flatMap(([id, box]) => sourcesOf(box).map((stream) => arrow(stream, id))),
    ...outputs.map(([name, output]) => arrow(String(output.from), `output ${name}`)),
  ];
  return { nodes, arrows: arrows.filter((each) => known.has(each.from) && known.has(each.to)) };
}

function source(id: string, kind: string, said: Record<string, unknown>): Node {
  const from = SOURCES.find((name) => said[name] != null);
  return { id, kind, title: id, detail: from ? `${from}${said[from] === true ? "" : ` ${said[from]}`}` : "" };
}

function arrow(stream: string, to: string): Arrow {
  const [from = "", part = ""] = stream.split(".");
  return { from, to, part };
}

function kindOf(box: Box): string {
  return KINDS.find((kind) => kind in box) ?? "box";
}

function sourcesOf(box: Box): string[] {
  const said = box[kindOf(box)];
  return Array.isArray(said) ? said.map(String) : [String(said)];
}

/** The one thing that says most of what a box does. */
function detailOf(box: Box): string {
  if (box.where) return String(box.where);
  if (box.values) return Object.values(box.values as object).join(", ");
  if (box.order_by) return `${box.limit} by ${box.order_by}`;
  if (box.on) return `on ${box.on}`;
  if (box.into) return Object.keys(box.into as object).join(", ");
  if (box.select || box.each) return Object.keys({ ...(box.select as object), ...(box.each as object) }).join(", ");
  return "";
}

// What need not be written, because it is so anyway.
const DEFAULTS: Record<string, unknown> = {
  about: "",
  where: "both",
  format: "json",
  repeats: "drop",
  emit: "updates",
  late: "revise",
  to: "results",
  kind: "inner",
};

/** A query as a person would write it into a file. */
export function yamlOf(query: DeployedQuery): string {
  const { id, about, where, inputs, tables, boxes, outputs, objective, ...rest } = query;
  const parallelism = (rest as { parallelism?: number }).parallelism;
  return dump({ name: id, about, where, parallelism, inputs, tables, boxes, outputs, objective }, 0);
}

function dump(thing: Record<string, unknown>, depth: number): string {
  const lines = Object.entries(thing)
    .filter(([name, value]) => value != null && DEFAULTS[name] !== value && !isEmpty(value))
    .map(([name, value]) => {
      const start = `${"  ".repeat(depth)}${name}:`;
      if (typeof value === "object" && !Array.isArray(value)) return `${start}\n${dump(value as Record<string, unknown>, depth + 1)}`;
      return `${start} ${inline(value)}\n`;
    });
  return lines.join("");
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (typeof value !== "string") return JSON.stringify(value);
  return /^[A-Za-z][\w ./()*+<>=-]*$/.test(value) && !/^(true|false|null|yes|no|on|off)$/i.test(value) ? value : JSON.stringify(value);
}

export interface Mistake {
  line: number | null;
  /** The node that it is about, or nothing. */
  at: string | null;
  text: string;
}

/** Takes apart a line such as `line 12: box tcp, where: there is no column x. Did you mean y?` */
export function mistakeOf(told: string): Mistake {
  const match = /^(?:line (\d+): )?(?:(input|table|box|output) ([a-z]\w*)[,:])?/.exec(told);
  const [, line, kind, name] = match ?? [];
  return { line: line ? Number(line) : null, at: name ? (kind === "output" ? `output ${name}` : name) : null, text: told.replace(/^line \d+: /, "") };
}
