import { useEffect, useMemo, useState } from "preact/hooks";
import type { Arrow, Graph, Node } from "./spec";

const WIDTH_PX = 190;
const HEIGHT_PX = 58;
const NARROW_PX = 700;
const LETTERS = 23;

interface Point {
  x: number;
  y: number;
}

interface Placed {
  width: number;
  height: number;
  nodes: (Node & Point)[];
  arrows: (Arrow & { points: Point[]; label: Point })[];
}

interface Props {
  graph: Graph;
  /** Two short lines beside an arrow, by the node that it leaves. */
  labels?: Map<string, [string, string]>;
  /** Nodes with something wrong, and what. */
  wrong?: Map<string, string>;
  /** The node that adds most to the delay. */
  slowest?: string | null;
}

/** The graph of a query; the layout comes with its own file, and only when there is something to draw. */
export function Drawing({ graph, labels, wrong, slowest }: Props) {
  const [placed, setPlaced] = useState<Placed | null>(null);
  const direction = useDirection();
  const shape = useMemo(() => JSON.stringify(graph), [graph]);
  useEffect(() => {
    let isLatest = true;
    void import("./layout").then(({ layout }) => isLatest && setPlaced(layout(graph, direction, WIDTH_PX, HEIGHT_PX)));
    return () => {
      isLatest = false;
    };
  }, [shape, direction]);
  if (!placed) return <p class="loading quiet">Drawing…</p>;
  return (
    <div class="graph" tabIndex={0} role="region" aria-label="Graph of the query">
      <svg viewBox={`0 0 ${placed.width} ${placed.height}`} width={placed.width} height={placed.height} role="img" aria-label={describe(graph)}>
        <defs>
          <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0 0 8 4 0 8z" />
          </marker>
        </defs>
        {placed.arrows.map((arrow) => {
          const said = labels?.get(arrow.from);
          return (
            <g key={`${arrow.from}.${arrow.part}>${arrow.to}`} class="arrow">
              <path d={path(arrow.points)} marker-end="url(#tip)" />
              <text x={arrow.label.x} y={arrow.label.y - (said ? 19 : 6)} text-anchor="middle">
                {arrow.part && <tspan x={arrow.label.x} class="part">{arrow.part}</tspan>}
                {said?.map((line, index) => <tspan key={index} x={arrow.label.x} dy={index || arrow.part ? 14 : 0}>{line}</tspan>)}
              </text>
            </g>
          );
        })}
        {placed.nodes.map((node) => (
          <g key={node.id} class={`node ${node.kind} ${wrong?.has(node.id) ? "wrong" : ""} ${slowest === node.id ? "slowest" : ""}`} transform={`translate(${node.x - WIDTH_PX / 2} ${node.y - HEIGHT_PX / 2})`}>
            <title>{[node.title, node.kind, node.detail, wrong?.get(node.id)].filter(Boolean).join("\n")}</title>
            <rect width={WIDTH_PX} height={HEIGHT_PX} rx={node.kind === "input" || node.kind === "output" ? HEIGHT_PX / 2 : 10} />
            <text x={WIDTH_PX / 2} y="24" text-anchor="middle">
              <tspan class="title">{short(node.title, 18)}</tspan> <tspan class="kind">{node.kind}</tspan>
            </text>
            <text x={WIDTH_PX / 2} y="42" text-anchor="middle" class="detail">{short(brief(wrong?.get(node.id)) ?? node.detail, LETTERS)}</text>
          </g>
        ))}
      </svg>
    </div>
  );
}

function useDirection(): "LR" | "TB" {
  const [query] = useState(() => matchMedia(`(max-width: ${NARROW_PX}px)`));
  const [isNarrow, setIsNarrow] = useState(query.matches);
  useEffect(() => {
    const changed = () => setIsNarrow(query.matches);
    query.addEventListener("change", changed);
    return () => query.removeEventListener("change", changed);
  }, []);
  return isNarrow ? "TB" : "LR";
}

/** A line through the points, rounded between them. */
function path(points: Point[]): string {
  const [first, ...rest] = points;
  let line = `M${first!.x} ${first!.y}`;
  rest.forEach((point, index) => {
    const next = rest[index + 1];
    line += next ? ` Q${point.x} ${point.y} ${(point.x + next.x) / 2} ${(point.y + next.y) / 2}` : ` L${point.x} ${point.y}`;
  });
  return line;
}

/** A mistake at its box need not name the box again. */
function brief(mistake: string | undefined): string | undefined {
  return mistake?.replace(/^(input|table|box|output) [^:]*: /, "");
}

function short(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

function describe(graph: Graph): string {
  return graph.arrows.map((arrow) => `${arrow.from}${arrow.part && ` (${arrow.part})`} to ${arrow.to}`).join(", ");
}
