import { useMemo } from "preact/hooks";
import { API, get } from "../api";
import { count, duration, moment, quantity } from "../format";
import { useLoad } from "../load";
import { to } from "../router";
import { useSession } from "../session";
import type { AlertDetail, Rule } from "../types";
import { Chart, type Level } from "../ui/Chart";
import { Badge, Card, Facts, Page, Show } from "../ui/Page";
import { Table, type Column } from "../ui/Table";
import { Acknowledge } from "./Alerts";
import { standing } from "./AlertLine";
import { useLiveReadings, useSeries, useStored } from "./readings";

type Delivery = AlertDetail["deliveries"][number];

/** One alert, drawn over its readings, and each attempt to tell of it. */
export function AlertPage({ id }: { id: string }) {
  const { live, may } = useSession();
  const path = id.split("/").map(encodeURIComponent).join("/");
  const alert = useLoad(id, (signal) => get<AlertDetail>(`${API}/alerts/${path}`, {}, signal), 5_000, live.view?.alerts?.changed);
  const found = alert.data;
  return (
    <Page
      title={found ? found.sensor_name || found.sensor : "Alert"}
      needs={["alerts:read"]}
      back={{ href: to(["alerts"]), title: "Alerts" }}
      actions={found && <Acknowledge alert={found} onDone={alert.reload} />}
    >
      <Show of={alert}>
        {(each) => (
          <>
            <Sentence alert={each} />
            {may("data:read") && each.direction && <Picture alert={each} />}
            <div class="halves">
              <Card title="About" id="about"><About alert={each} /></Card>
              <Card title="Who was told" id="deliveries"><Deliveries of={each.deliveries} /></Card>
            </div>
          </>
        )}
      </Show>
    </Page>
  );
}

function Sentence({ alert }: { alert: AlertDetail }) {
  const [tone, word] = standing(alert);
  return (
    <p class={`verdict ${tone}`}>
      <strong>{word}</strong>
      <span>{alert.sentence}</span>
    </p>
  );
}

function About({ alert }: { alert: AlertDetail }) {
  const facts: [string, preact.ComponentChildren][] = [
    ["Rule", <a href={to(["rules"])}>{alert.rule}</a>],
    ["Sensor", <a href={to(["sensors", "of", alert.site, alert.sensor])}>{alert.site} / {alert.sensor}</a>],
    ["Device", [alert.device_name ?? alert.device, alert.location].filter(Boolean).join(", ") || "–"],
    ["Threshold", alert.direction ? `${alert.direction.toLowerCase()} ${quantity(alert.threshold, alert.unit)}` : "–"],
    ["Peak", quantity(alert.peak, alert.unit)],
    ["Mean", quantity(alert.average, alert.unit)],
    ["Readings beyond", count(alert.count)],
    ["First reading beyond", moment(alert.first_ms)],
    ["Over since", alert.cleared_ms ? `${moment(alert.cleared_ms)}, after ${duration((alert.cleared_ms - alert.first_ms) / 1_000)}` : "it lasts"],
  ];
  if (alert.acknowledged) facts.push(["Acknowledged", `${alert.acknowledged.by}, ${moment(alert.acknowledged.at_ms)} ${alert.acknowledged.note}`]);
  return <Facts of={facts} />;
}

const AROUND_MS = 120_000;

/** The readings before, during and after, with the threshold and how far back they had to come. */
function Picture({ alert }: { alert: AlertDetail }) {
  const { may } = useSession();
  const rule = useLoad(may("rules:read") ? alert.rule : null, (signal) => get<Rule>(`${API}/rules/${encodeURIComponent(alert.rule)}`, {}, signal));
  const endMs = alert.cleared_ms;
  const aroundMs = Math.max(AROUND_MS, ((endMs ?? alert.at_ms) - alert.first_ms) / 2);
  const sensor = `${alert.site}/${alert.sensor}`;
  const stored = useStored(sensor, alert.field, alert.first_ms - aroundMs, endMs && endMs + aroundMs);
  const live = useLiveReadings(sensor, true);
  const series = useSeries(stored.data, live, alert.field);
  const lines = useMemo(() => [{ title: alert.field, values: series.mean }], [series]);
  const untilMs = endMs ? endMs + aroundMs : Math.max(Date.now(), series.timesMs.at(-1) ?? 0);
  return (
    <Card title={`${alert.field} of ${alert.sensor_name || alert.sensor}`} id="picture">
      <Show of={stored}>
        {() => (
          <Chart
            label={`${alert.field} around the alert, with its threshold`}
            timesMs={series.timesMs}
            lines={lines}
            levels={levels(alert, rule.data)}
            spans={[{ fromMs: alert.first_ms, toMs: endMs ?? Date.now(), tone: endMs ? "fair" : "bad" }]}
            windowMs={[alert.first_ms - aroundMs, untilMs]}
            heightPx={280}
          />
        )}
      </Show>
    </Card>
  );
}

function levels(alert: AlertDetail, rule: Rule | undefined): Level[] {
  if (alert.threshold === null) return [];
  const found: Level[] = [{ value: alert.threshold, title: `threshold ${quantity(alert.threshold, alert.unit)}`, tone: "bad" }];
  // The rule of today says nothing of an alert of an earlier one.
  if (rule?.hysteresis && rule.version === alert.rule_version) {
    const back = alert.direction === "ABOVE" ? alert.threshold - rule.hysteresis : alert.threshold + rule.hysteresis;
    found.push({ value: back, title: `over at ${quantity(back, alert.unit)}`, tone: "good" });
  }
  return found;
}

const COLUMNS: Column<Delivery>[] = [
  { title: "Channel", cell: (delivery) => <strong>{delivery.channel}</strong> },
  { title: "Outcome", cell: (delivery) => <Badge tone={delivery.outcome === "delivered" ? "good" : "bad"}>{delivery.outcome}</Badge>, class: "badge" },
  { title: "Of", cell: (delivery) => delivery.state },
  { title: "Attempt", cell: (delivery) => count(delivery.attempt), numeric: true },
  { title: "At", cell: (delivery) => moment(delivery.at_ms), numeric: true },
  { title: "Error", cell: (delivery) => delivery.error, class: "wide" },
];

function Deliveries({ of }: { of: Delivery[] }) {
  if (!of.length) return <p class="empty">Nobody yet. Channels are set up in the configuration, under <code>alerts</code>.</p>;
  const newest = [...of].reverse();
  return <Table label="Deliveries" columns={COLUMNS} rows={newest} keyOf={(each) => `${each.channel} ${each.state} ${each.attempt} ${each.at_ms}`} />;
}
