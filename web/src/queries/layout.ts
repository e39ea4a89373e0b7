// Places the nodes of a graph in layers. In a file of its own, so that only pages that draw load dagre.
import { Graph as Dagre, layout as place } from "@dagrejs/dagre";
import type { Arrow, Graph } from "./spec";

const LABEL_PX = { width: 96, height: 44 };

export function layout(graph: Graph, direction: "LR" | "TB", width: number, height: number) {
  const drawn = new Dagre({ multigraph: true });
  drawn.setGraph({ rankdir: direction, nodesep: 26, ranksep: 20, marginx: 8, marginy: 8 });
  for (const node of graph.nodes) drawn.setNode(node.id, { width, height });
  for (const arrow of graph.arrows) drawn.setEdge(arrow.from, arrow.to, { ...LABEL_PX, labelpos: "c" }, nameOf(arrow));
  place(drawn);
  const size = drawn.graph() as { width?: number; height?: number };
  return {
    width: Math.ceil(size.width ?? 0),
    height: Math.ceil(size.height ?? 0),
    nodes: graph.nodes.map((node) => ({ ...node, ...point(drawn.node(node.id)) })),
    arrows: graph.arrows.map((arrow) => {
      const edge = drawn.edge(arrow.from, arrow.to, nameOf(arrow)) as { points: { x: number; y: number }[]; x: number; y: number };
      return { ...arrow, points: edge.points, label: { x: edge.x, y: edge.y } };
    }),
  };
}

/** Dagre takes an empty name for one at some places, and for none at others. */
function nameOf(arrow: Arrow): string | undefined {
  return arrow.part || undefined;
}

function point(node: unknown): { x: number; y: number } {
  const { x, y } = node as { x: number; y: number };
  return { x, y };
}
