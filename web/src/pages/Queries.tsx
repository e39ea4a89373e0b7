import { API, list } from "../api";
import { agoMs, count } from "../format";
import { useLoad } from "../load";
import { to, type Route } from "../router";
import { useSession } from "../session";
import type { DeployedQuery } from "../queries/spec";
import { Badge, Card, Empty, Page, Show } from "../ui/Page";
import { Table, type Column } from "../ui/Table";
import { QueryEditor } from "./QueryEditor";
import { QueryPage } from "./QueryPage";

/** Continuous queries: what is computed from streams while they flow. */
export function Queries({ route }: { route: Route }) {
  const [, part, site, id] = route.path;
  if (part === "new") return <QueryEditor site={null} id={null} />;
  if (part === "edit" && site && id) return <QueryEditor key={id} site={site} id={id} />;
  if (part === "of" && site && id) return <QueryPage key={`${site}/${id}`} site={site} id={id} />;
  return <QueryList />;
}

function QueryList() {
  const { may, live } = useSession();
  const queries = useLoad("queries", (signal) => list<DeployedQuery>(`${API}/queries`, {}, signal), 5_000);
  const columns: Column<DeployedQuery>[] = [
    { title: "Query", cell: (query) => <a href={to(["queries", "of", query.site, query.id])}><strong>{query.id}</strong></a>, class: "name" },
    { title: "State", cell: (query) => <QueryState id={query.id} />, class: "badge" },
    { title: "About", cell: (query) => query.about, class: "wide" },
    { title: "Boxes", cell: (query) => count(Object.keys(query.boxes ?? {}).length), numeric: true },
    { title: "Site", cell: (query) => query.site },
    { title: "Changed", cell: (query) => agoMs(query.updated_ms, live.view?.at_ms), numeric: true },
  ];
  return (
    <Page
      title="Queries"
      needs={["queries:read"]}
      about="What is computed from streams while they flow: counts, means, joins, the busiest."
      actions={may("queries:write") && <a class="button primary" href={to(["queries", "new"])}>New query</a>}
    >
      <Card>
        <Show of={queries}>
          {(items) =>
            items.length ? (
              <Table label="Queries" columns={columns} rows={items} keyOf={(query) => `${query.site}/${query.id}`} />
            ) : (
              <Empty title="Nothing is computed yet">
                <p>A query reads streams, and gives new ones, to alerts, twins or the lake. Begin with a new one: it comes with an example.</p>
              </Empty>
            )
          }
        </Show>
      </Card>
    </Page>
  );
}

const TONES: Record<string, string> = { running: "good", starting: "fair", restarting: "fair", degraded: "fair", failed: "bad" };

/** How a query stands at this node, from the live status. */
export function QueryState({ id }: { id: string }) {
  const { live } = useSession();
  const component = live.view?.status?.components.find((each) => each.name === `query:deployed/${id}`);
  return component ? <Badge tone={TONES[component.state]}>{component.state}</Badge> : <Badge>not here</Badge>;
}
