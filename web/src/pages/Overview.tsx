import { API, get, type Schemas } from "../api";
import { ago, count, delay, moment, plural, rate } from "../format";
import { useLoad, type Loaded } from "../load";
import type { View } from "../live";
import { to } from "../router";
import { useSession } from "../session";
import type { Alert, AuditEntry, SiteHealth } from "../types";
import { Badge, Card, Page, Show } from "../ui/Page";
import { AlertLine } from "./AlertLine";
import { LedgerCard } from "./LedgerCard";
import { RateCard } from "./RateCard";
import { Verdict } from "./Verdict";

type Glance = Schemas["Overview"];

const SLOW_MS = 10_000;

/** Whether all is well, at a glance. */
export function Overview() {
  const { live } = useSession();
  return (
    <Page title="Overview" needs={["status:read", "ledger:read"]}>
      {live.view ? <Content view={live.view} /> : <p class="loading quiet" aria-busy="true">Loading…</p>}
    </Page>
  );
}

function Content({ view }: { view: View }) {
  const { may } = useSession();
  const load = (signal: AbortSignal) => get<Glance>(`${API}/overview`, {}, signal);
  const glance = useLoad("overview", load, SLOW_MS, view.alerts.changed);
  return (
    <>
      <Verdict status={view.status} />
      <Sites sites={view.sites} nowMs={view.at_ms} />
      <div class="figures">
        <RateCard rate={view.totals.rate_per_s} history={view.history} nowMs={view.at_ms} />
        <LedgerCard totals={view.totals} current={view.ledger_current} />
      </div>
      <div class="halves">
        {may("alerts:read") && <OpenAlerts open={view.alerts.open} newest={{ ...glance, data: glance.data?.alerts?.newest }} />}
        {may("audit:read") && <Changes newest={{ ...glance, data: glance.data?.changes ?? undefined }} />}
      </div>
    </>
  );
}

const HEALTH: Record<SiteHealth["health"], string> = { well: "good", fair: "fair", bad: "bad" };

function Sites({ sites, nowMs }: { sites: SiteHealth[]; nowMs: number }) {
  return (
    <ul class="sites" aria-label="Sites">
      {sites.map((site) => (
        <li key={site.name} class="card">
          <div class="heading">
            <h2><a href={to(["sites"])}>{site.name}</a></h2>
            <Badge tone={HEALTH[site.health]}>{site.health}</Badge>
          </div>
          {site.why && <p class="quiet">{site.why}</p>}
          <dl>
            <div><dt>Rate</dt><dd>{rate(site.rate_per_s)} /s</dd></div>
            <div><dt>Delay</dt><dd>{delay(site.delay_ms)}</dd></div>
            <div><dt>Backlog</dt><dd>{count(site.backlog_records)}</dd></div>
            <div><dt>Latest</dt><dd>{site.last_origin_us ? ago(site.last_origin_us, nowMs) : "–"}</dd></div>
          </dl>
        </li>
      ))}
    </ul>
  );
}

function OpenAlerts({ open, newest }: { open: number; newest: Loaded<Alert[]> }) {
  const hidden = open - (newest.data?.length ?? open);
  return (
    <Card title="Open alerts" id="open-alerts" aside={<a href={to(["alerts"])}>All alerts</a>}>
      <Show of={newest}>
        {(items) =>
          items.length ? <ul class="lines">{items.map((alert) => <AlertLine key={alert.id} alert={alert} />)}</ul> : <p class="empty">Nothing is beyond its threshold.</p>
        }
      </Show>
      {hidden > 0 && <p class="quiet">{plural(hidden, "other is", "others are")} open.</p>}
    </Card>
  );
}

function Changes({ newest }: { newest: Loaded<AuditEntry[]> }) {
  return (
    <Card title="What changed lately" id="changes" aside={<a href={to(["audit"])}>All changes</a>}>
      <Show of={newest}>
        {(items) =>
          items.length ? <ul class="lines">{items.map((change) => <Change key={change.id} change={change} />)}</ul> : <p class="empty">Nobody has changed anything yet.</p>
        }
      </Show>
    </Card>
  );
}

function Change({ change }: { change: AuditEntry }) {
  return (
    <li>
      <span class="line-main">
        <strong>{change.who}</strong> {change.what.replaceAll("_", " ")} <span class="quiet">{change.target.replace(API, "")}</span>
      </span>
      <time class="quiet">{moment(change.at_ms)}</time>
    </li>
  );
}
