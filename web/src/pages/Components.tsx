import { API, get } from "../api";
import { count, delay, duration, rate } from "../format";
import { useLoad } from "../load";
import { useSession } from "../session";
import type { Component, NodeStatus } from "../types";
import { Badge, Card, Empty, Page, Show } from "../ui/Page";
import { Table, type Column } from "../ui/Table";
import { Text } from "../ui/Text";
import { ConfigurationCard } from "./ConfigurationCard";
import { Metrics } from "./Metrics";
import { Verdict } from "./Verdict";

const TONES: Record<Component["state"], string> = {
  running: "good",
  starting: "fair",
  restarting: "fair",
  degraded: "fair",
  stopping: "idle",
  stopped: "idle",
  failed: "bad",
};

const EVERY_MS = 3_000;

/** State of every process and Spark query, what failed last, the configuration, and the metrics. */
export function Components() {
  const { live, may } = useSession();
  // The live stream says at once when a state changes; figures are asked for beside it.
  const states = live.view?.status?.components.map((component) => component.state).join();
  const status = useLoad("status", (signal) => get<NodeStatus>(`${API}/status`, {}, signal), EVERY_MS, states);
  const shown = status.data ?? live.view?.status ?? null;
  return (
    <Page title="Components" needs={["status:read"]} about="The processes of this node, and the Spark queries and relays inside them.">
      {shown && <Verdict status={shown} />}
      <Card title="Processes" id="processes">
        <Show of={{ ...status, data: shown ?? undefined }}>
          {(now) => <Table label="Processes" columns={COLUMNS} rows={now.components.filter((each) => !isInside(each))} keyOf={(each) => each.name} />}
        </Show>
      </Card>
      {shown && (
        <Card title="Queries and relays" id="queries">
          <Inside components={shown.components.filter(isInside)} />
        </Card>
      )}
      {may("sites:write") && <ConfigurationCard />}
      {may("metrics:read") && <Metrics />}
    </Page>
  );
}

function Inside({ components }: { components: Component[] }) {
  if (!components.length) {
    return (
      <Empty title="No query runs yet">
        <p>The pipeline tells of its queries once it has started.</p>
      </Empty>
    );
  }
  return <Table label="Queries and relays" columns={INSIDE} rows={components} keyOf={(each) => each.name} />;
}

const NAME: Column<Component> = { title: "Component", cell: (component) => <strong>{component.name}</strong>, class: "name" };
const STATE: Column<Component> = { title: "State", cell: (component) => <Badge tone={TONES[component.state]}>{component.state}</Badge>, class: "badge" };
const DETAIL: Column<Component> = { title: "Detail", cell: (component) => <Detail component={component} />, class: "wide" };
const RESTARTS: Column<Component> = { title: "Restarts", cell: (component) => count(component.restarts ?? 0), numeric: true };

const COLUMNS: Column<Component>[] = [
  NAME,
  STATE,
  DETAIL,
  { title: "Process", cell: (component) => component.pid ?? "–", numeric: true },
  RESTARTS,
  { title: "Running for", cell: (component) => (component.pid == null ? "–" : duration(component.uptime_s ?? 0)), numeric: true },
];

const INSIDE: Column<Component>[] = [
  NAME,
  STATE,
  DETAIL,
  { title: "Rate /s", cell: (component) => rate(figure(component, "rows_in_per_s", "rate_per_s")), numeric: true },
  { title: "Delay", cell: (component) => delay(figure(component, "delay_ms")), numeric: true },
  RESTARTS,
];

function Detail({ component }: { component: Component }) {
  const error = component.figures?.last_error;
  return (
    <>
      {component.detail && <Text>{component.detail}</Text>}
      {typeof error === "string" && error && <p class="last-error">{error}</p>}
    </>
  );
}

function isInside(component: Component): boolean {
  return component.name.includes(":");
}

function figure(component: Component, ...names: string[]): number | null {
  const found = names.map((name) => component.figures?.[name]).find((each) => typeof each === "number");
  return (found as number | undefined) ?? null;
}
