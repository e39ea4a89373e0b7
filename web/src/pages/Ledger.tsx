import { API, list, type Schemas } from "../api";
import { count, duration, moment } from "../format";
import { useLoad } from "../load";
import { useSession } from "../session";
import { Badge, Card, Page, Show } from "../ui/Page";
import { Table, type Column } from "../ui/Table";
import { sentence } from "./LedgerCard";
import { RecountCard } from "./RecountCard";
import { Streams } from "./Streams";

type Gap = Schemas["ListedGap"];

const COLUMNS: Column<Gap>[] = [
  { title: "Stream", cell: (gap) => <strong>{gap.stream}</strong>, class: "name" },
  { title: "Gateway", cell: (gap) => `${gap.site} / ${gap.gateway}`, class: "place" },
  { title: "State", cell: (gap) => (gap.closed_ms ? <Badge tone="good">closed</Badge> : <Badge tone="bad">open</Badge>), class: "badge" },
  { title: "Numbers", cell: (gap) => (gap.first === gap.last ? count(gap.first) : `${count(gap.first)} to ${count(gap.last)}`), numeric: true },
  { title: "Records", cell: (gap) => count(gap.records), numeric: true },
  { title: "Opened", cell: (gap) => moment(gap.opened_ms), numeric: true },
  { title: "Closed", cell: (gap) => (gap.closed_ms ? `${moment(gap.closed_ms)}, after ${duration((gap.closed_ms - gap.opened_ms) / 1_000)}` : "–"), numeric: true },
];

/** Every stream through every hop, and what is missing. */
export function Ledger() {
  const { live } = useSession();
  const view = live.view;
  return (
    <Page title="Ledger" needs={["status:read", "ledger:read"]} about="What gateways accepted, and what of it came through every hop.">
      {view && (
        <>
          <p class={`verdict ${view.totals.missing ? "bad" : "good"}`} role="status">
            <strong>{sentence(view.totals, view.ledger_current)}</strong>
            <span>
              {count(view.totals.received)} of {count(view.totals.accepted)} records received, {count(view.totals.under_way)} under way.
            </span>
          </p>
          <Streams streams={view.streams} nowMs={view.at_ms} />
          <Gaps missing={view.totals.missing} />
          <RecountCard />
        </>
      )}
    </Page>
  );
}

function Gaps({ missing }: { missing: number }) {
  const gaps = useLoad("gaps", (signal) => list<Gap>(`${API}/gaps`, {}, signal), 10_000, missing);
  return (
    <Card title="Gaps" id="gaps">
      <Show of={gaps}>
        {(items) =>
          items.length ? (
            <Table label="Gaps" columns={COLUMNS} rows={items} keyOf={(gap) => gap.id} />
          ) : (
            <p class="empty">No stream has had a gap. A number that does not come is listed here, with when it was missed and when it came.</p>
          )
        }
      </Show>
    </Card>
  );
}
