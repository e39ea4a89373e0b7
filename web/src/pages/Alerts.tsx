import { useState } from "preact/hooks";
import { API, list, put, sentenceOf } from "../api";
import { agoMs, duration, moment, quantity } from "../format";
import { useLoad } from "../load";
import { replace, to, type Route } from "../router";
import { useSession } from "../session";
import type { Alert } from "../types";
import { useTalk } from "../ui/Dialog";
import { Badge, Card, Empty, Page, Search, Show, Tabs } from "../ui/Page";
import { Table, type Column } from "../ui/Table";
import { AlertPage } from "./AlertPage";
import { standing, withoutName } from "./AlertLine";

const EVERY_MS = 15_000;

/** Alerts, open and past. */
export function Alerts({ route }: { route: Route }) {
  const id = route.path[1];
  if (id && id !== "past") return <AlertPage key={id} id={id} />;
  return <AlertList isPast={id === "past"} rule={route.query.get("rule")} />;
}

function AlertList({ isPast, rule }: { isPast: boolean; rule: string | null }) {
  const { live } = useSession();
  const [filter, setFilter] = useState("");
  const load = (signal: AbortSignal) => loadAlerts(isPast, rule, signal);
  const alerts = useLoad(`alerts ${isPast} ${rule}`, load, EVERY_MS, live.view?.alerts?.changed);
  const wanted = filter.toLowerCase();
  const now = to(isPast ? ["alerts", "past"] : ["alerts"]);
  return (
    <Page title="Alerts" needs={["alerts:read"]} about="What is beyond its threshold, and who was told.">
      <Tabs
        label="Alerts"
        now={now}
        tabs={[
          { title: "Open", href: to(["alerts"]), count: live.view?.alerts?.open },
          { title: "Past", href: to(["alerts", "past"]) },
        ]}
      />
      {rule && (
        <p class="filtered">
          Of the rule <strong>{rule}</strong>. <button type="button" class="plain" onClick={() => replace(now)}>Show all</button>
        </p>
      )}
      <Card aside={(alerts.data?.length ?? 0) > 5 && <Search label="Filter alerts" value={filter} onChange={setFilter} />}>
        <Show of={alerts}>
          {(items) =>
            items.length ? (
              <Table
                label={isPast ? "Past alerts" : "Open alerts"}
                columns={columnsOf(alerts.reload)}
                rows={items.filter((alert) => `${alert.sentence} ${alert.rule} ${alert.sensor}`.toLowerCase().includes(wanted))}
                keyOf={(alert) => alert.id}
              />
            ) : (
              <Empty title={isPast ? "There were no alerts" : "No alert is open"}>
                <p>{isPast ? "Alerts that are over are listed here." : <>What goes beyond a threshold shows here within a second. <a href={to(["rules"])}>Rules</a> say what is watched.</>}</p>
              </Empty>
            )
          }
        </Show>
      </Card>
    </Page>
  );
}

/** Open ones are those that last, and notices that nobody has acknowledged. */
async function loadAlerts(isPast: boolean, rule: string | null, signal: AbortSignal): Promise<Alert[]> {
  const states = isPast ? ["cleared", "told"] : ["raised", "told"];
  const found = await Promise.all(states.map((state) => list<Alert>(`${API}/alerts`, { state, rule }, signal)));
  const wanted = found.flat().filter((alert) => alert.state !== "told" || Boolean(alert.acknowledged) === isPast);
  return wanted.sort((one, other) => other.at_ms - one.at_ms);
}

function columnsOf(reload: () => void): Column<Alert>[] {
  return [
    { title: "Alert", cell: (alert) => <Title alert={alert} />, class: "sentence" },
    { title: "State", cell: (alert) => <Standing alert={alert} />, class: "badge" },
    { title: "Rule", cell: (alert) => alert.rule },
    { title: "Peak", cell: (alert) => quantity(alert.peak, alert.unit), numeric: true },
    { title: "Raised", cell: (alert) => <time title={moment(alert.raised_ms ?? alert.at_ms)}>{agoMs(alert.raised_ms ?? alert.at_ms)}</time>, numeric: true },
    { title: "Lasted", cell: (alert) => (alert.cleared_ms ? duration((alert.cleared_ms - alert.first_ms) / 1_000) : "–"), numeric: true },
    { title: "Actions", cell: (alert) => <Acknowledge alert={alert} onDone={reload} />, class: "row-end" },
  ];
}

function Title({ alert }: { alert: Alert }) {
  return (
    <>
      <a href={to(["alerts", alert.id])}><strong>{alert.sensor_name || alert.sensor}</strong></a>
      <p class="quiet">{withoutName(alert.sentence)}</p>
    </>
  );
}

function Standing({ alert }: { alert: Alert }) {
  const [tone, word] = standing(alert);
  return <Badge tone={tone}>{word}</Badge>;
}

/** One press, and everybody sees that somebody cares. */
export function Acknowledge({ alert, onDone }: { alert: Alert; onDone: () => void }) {
  const { may } = useSession();
  const { say } = useTalk();
  const [busy, setBusy] = useState(false);
  if (alert.acknowledged) return <span class="quiet">{alert.acknowledged.by.replace(/^user\//, "")}, {agoMs(alert.acknowledged.at_ms)}</span>;
  if (!may("alerts:acknowledge")) return null;
  const acknowledge = async () => {
    setBusy(true);
    const path = alert.id.split("/").map(encodeURIComponent).join("/");
    await put(`${API}/alerts/${path}/acknowledgement`, { note: "" }).then(() => say("Acknowledged."), (error) => say(sentenceOf(error)));
    setBusy(false);
    onDone();
  };
  return <button type="button" disabled={busy} onClick={acknowledge}>Acknowledge</button>;
}
