import { useState } from "preact/hooks";
import { API, get, put, remove, sentenceOf, type Schemas } from "../api";
import { ago, bytes, count, delay, duration, moment } from "../format";
import { useLoad } from "../load";
import { useSession } from "../session";
import { useTalk } from "../ui/Dialog";
import { Badge, Card, Empty, Page, Show } from "../ui/Page";
import { Table, type Column } from "../ui/Table";
import { AddSite } from "./AddSite";
import { Parties } from "./Parties";

type SiteState = Schemas["SiteState"];
type Gateway = Schemas["GatewayState"];
type Certificate = Schemas["CertificateSummary"];

const EVERY_MS = 3_000;

/** Connections, spools, relays and certificates; and how a site is added. */
export function Sites() {
  const { may, live } = useSession();
  const [adding, setAdding] = useState(false);
  const isCentre = live.view?.status ? live.view.status.role !== "site" : true;
  return (
    <Page
      title="Sites and gateways"
      needs={["status:read"]}
      about="Where records come from, and how they get here."
      actions={isCentre && may("sites:write") && <button type="button" class="primary" onClick={() => setAdding(true)}>Add a site</button>}
    >
      <Gateways nowMs={live.view?.at_ms ?? Date.now()} />
      {isCentre && <Relays />}
      <Parties />
      <Certificates />
      {adding && <AddSite onClose={() => setAdding(false)} />}
    </Page>
  );
}

const STATES: Record<string, string> = { running: "good", starting: "fair", restarting: "fair", degraded: "fair", failed: "bad" };

function Gateways({ nowMs }: { nowMs: number }) {
  const gateways = useLoad("gateways", (signal) => get<{ items: Gateway[] }>(`${API}/gateways`, {}, signal), EVERY_MS);
  const columns: Column<Gateway>[] = [
    { title: "Gateway", cell: (gateway) => <><strong>{gateway.name}</strong> <span class="quiet">{gateway.site}</span></>, class: "name" },
    { title: "State", cell: (gateway) => gateway.state && <Badge tone={STATES[gateway.state]}>{gateway.state}</Badge>, class: "badge" },
    { title: "Detail", cell: (gateway) => gateway.detail, class: "wide" },
    { title: "Connections", cell: (gateway) => (gateway.connections === null ? "–" : count(gateway.connections)), numeric: true },
    { title: "Streams", cell: (gateway) => count(gateway.streams), numeric: true },
    { title: "Spool", cell: (gateway) => <Spool gateway={gateway} />, class: "spool" },
    { title: "Latest", cell: (gateway) => (gateway.last_origin_us ? ago(gateway.last_origin_us, nowMs) : "–"), numeric: true },
  ];
  return (
    <Card title="Gateways" id="gateways">
      <Show of={gateways}>
        {({ items }) =>
          items.length ? (
            <Table label="Gateways" columns={columns} rows={items} keyOf={(gateway) => `${gateway.site}/${gateway.name}`} />
          ) : (
            <Empty title="No gateway is known yet"><p>A node with the role site has one; it starts with <code>catchment up</code>.</p></Empty>
          )
        }
      </Show>
    </Card>
  );
}

/** How full the spool is, and how long it would last. */
function Spool({ gateway }: { gateway: Gateway }) {
  if (gateway.spool_fill === null) return <>–</>;
  const tone = gateway.spool_fill > 0.8 ? "bad" : gateway.spool_fill > 0.5 ? "fair" : "good";
  const percent = gateway.spool_fill < 0.001 && gateway.spool_bytes ? "< 0.1" : (gateway.spool_fill * 100).toFixed(1);
  return (
    <>
      <meter class={tone} min={0} max={1} value={gateway.spool_fill} aria-label={`Spool of ${gateway.name}`} />
      <span class="quiet">
        {percent} % of {bytes(gateway.spool_max_bytes ?? 0)}
        {gateway.full_in_s !== null ? `, full in ${duration(gateway.full_in_s)}` : ""}
      </span>
    </>
  );
}

function Relays() {
  const { may } = useSession();
  const { ask, say } = useTalk();
  const sites = useLoad("sites", (signal) => get<{ items: SiteState[] }>(`${API}/sites`, {}, signal), EVERY_MS);
  const settle = (act: Promise<unknown>, done: string) => act.then(() => say(done), (error) => say(sentenceOf(error))).then(sites.reload);
  const path = (site: SiteState) => `${API}/sites/${encodeURIComponent(site.name)}`;
  const drop = async (site: SiteState) => {
    const text = "Its records stay here. New ones are not fetched any more, and it has to be added again to come back.";
    if (await ask({ title: `Remove the site ${site.name}?`, text, action: "Remove", destructive: true })) await settle(remove(path(site)), `${site.name} is removed.`);
  };
  const columns: Column<SiteState>[] = [
    { title: "Site", cell: (site) => <><strong>{site.name}</strong> <span class="quiet">{site.bootstrap_servers}</span></>, class: "name" },
    { title: "State", cell: (site) => <Badge tone={site.paused ? "idle" : STATES[site.state]}>{site.paused ? "paused" : site.state}</Badge>, class: "badge" },
    { title: "Detail", cell: (site) => <>{site.detail}{site.last_error && <p class="last-error">{site.last_error}</p>}</>, class: "wide" },
    { title: "Backlog", cell: (site) => (site.lag_records == null ? "–" : count(site.lag_records)), numeric: true },
    { title: "Delay", cell: (site) => delay(site.delay_ms), numeric: true },
    { title: "Relayed", cell: (site) => count(site.relayed_records ?? 0), numeric: true },
    { title: "Incidents", cell: (site) => <Incidents site={site} />, numeric: true },
    {
      title: "Actions",
      cell: (site) =>
        may("sites:write") ? (
          <span class="row-actions">
            <button type="button" onClick={() => settle(put(`${path(site)}/${site.paused ? "resume" : "pause"}`, {}), `${site.name} is ${site.paused ? "relayed again" : "paused"}.`)}>
              {site.paused ? "Resume" : "Pause"}
            </button>
            <button type="button" onClick={() => drop(site)} aria-label={`Remove ${site.name}`}>Remove</button>
          </span>
        ) : null,
      class: "row-end",
    },
  ];
  return (
    <Card title="Relayed sites" id="relays">
      <Show of={sites}>
        {({ items }) =>
          items.length ? (
            <Table label="Relayed sites" columns={columns} rows={items} keyOf={(site) => site.name} />
          ) : (
            <Empty title="No other site sends here yet">
              <p>Add a site: it gets one command to run there, and its records come here by themselves.</p>
            </Empty>
          )
        }
      </Show>
    </Card>
  );
}

function Incidents({ site }: { site: SiteState }) {
  const newest = site.incidents?.[0];
  if (!newest) return <>{count(site.incident_count ?? 0)}</>;
  return <><strong class="bad">{count(site.incident_count ?? 0)}</strong> <span class="quiet">{newest.finding}, {moment(newest.at_ms)}</span></>;
}

const CERTIFICATES: Column<Certificate>[] = [
  { title: "Certificate", cell: (each) => <strong>{each.name}</strong>, class: "name" },
  { title: "Of", cell: (each) => each.kind },
  { title: "Days left", cell: (each) => <Badge tone={each.days_left < 14 ? "bad" : each.days_left < 45 ? "fair" : "good"}>{count(each.days_left)} days</Badge>, class: "badge" },
  { title: "Expires", cell: (each) => each.expires_at.slice(0, 10), numeric: true },
  { title: "Fingerprint", cell: (each) => <code title={each.fingerprint}>{each.fingerprint.slice(0, 16)}…</code>, class: "place" },
];

function Certificates() {
  const certificates = useLoad("certificates", (signal) => get<{ items: Certificate[] }>(`${API}/certificates`, {}, signal), 60_000);
  return (
    <Card title="Certificates" id="certificates">
      <Show of={certificates}>{({ items }) => <Table label="Certificates" columns={CERTIFICATES} rows={items} keyOf={(each) => `${each.kind}/${each.name}`} />}</Show>
    </Card>
  );
}
