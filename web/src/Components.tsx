import type { Component, NodeStatus } from "./api";
import { count, duration } from "./format";
import { Table, type Column } from "./Table";
import { Text } from "./Text";

const TONES: Record<Component["state"], string> = {
  running: "good",
  starting: "fair",
  restarting: "fair",
  degraded: "fair",
  stopping: "idle",
  stopped: "idle",
  failed: "bad",
};

interface Props {
  status: NodeStatus | null;
  sinceMs: number;
}

export function Components({ status, sinceMs }: Props) {
  const columns: Column<Component>[] = [
    { title: "Component", cell: (component) => <strong>{component.name}</strong> },
    { title: "State", cell: (component) => <span class={`state ${TONES[component.state]}`}>{component.state}</span>, class: "badge" },
    { title: "Detail", cell: (component) => component.detail && <Text>{component.detail}</Text>, class: "wide" },
    { title: "Process", cell: (component) => component.pid ?? "–", numeric: true },
    { title: "Restarts", cell: (component) => count(component.restarts), numeric: true },
    { title: "Running for", cell: (component) => uptime(component, sinceMs), numeric: true },
  ];
  return (
    <section class="card" aria-labelledby="components">
      <h2 id="components">Components</h2>
      {status ? (
        <Table columns={columns} rows={status.components} keyOf={(component) => component.name} />
      ) : (
        <p class="empty">
          Nothing is known of the components. Start the node with <code>catchment up</code>.
        </p>
      )}
    </section>
  );
}

function uptime(component: Component, sinceMs: number): string {
  if (component.pid == null) return "–";
  return duration(component.uptime_s + sinceMs / 1_000);
}
