import { useState } from "preact/hooks";
import { API, get, type Page as ApiPage } from "../api";
import { moment } from "../format";
import { useLoad } from "../load";
import { replace, to, type Route } from "../router";
import type { AuditEntry } from "../types";
import { Badge, Card, Empty, Page, Search, Show } from "../ui/Page";
import { Table, type Column } from "../ui/Table";

const COLUMNS: Column<AuditEntry>[] = [
  { title: "Who", cell: (entry) => <strong>{entry.who}</strong>, class: "name" },
  { title: "Outcome", cell: (entry) => <Outcome of={entry.outcome} />, class: "badge" },
  { title: "What", cell: (entry) => entry.what.replaceAll("_", " ") },
  { title: "Of", cell: (entry) => <code>{entry.target}</code>, class: "wide" },
  { title: "From", cell: (entry) => entry.address ?? "the machine itself" },
  { title: "Node", cell: (entry) => entry.node },
  { title: "At", cell: (entry) => moment(entry.at_ms), numeric: true },
];
const PAGE_ITEMS = 200;

/** Who changed what, and when. */
export function Audit({ route }: { route: Route }) {
  const [who, what] = [route.query.get("who") ?? "", route.query.get("what") ?? ""];
  const [cursors, setCursors] = useState<(string | null)[]>([null]);
  const cursor = cursors.at(-1)!;
  const entries = useLoad(
    JSON.stringify([who, what, cursor]),
    (signal) => get<ApiPage<AuditEntry>>(`${API}/audit`, { who, what, cursor, limit: PAGE_ITEMS }, signal),
    cursor ? 0 : 5_000,
  );
  const narrow = (change: { who?: string; what?: string }) => {
    setCursors([null]);
    replace(to(["audit"], { who, what, ...change }));
  };
  return (
    <Page title="Audit" needs={["audit:read"]} about="Every change, by whom and when; also those that were refused.">
      <Card
        aside={
          <>
            <Search label="Who" value={who} onChange={(text) => narrow({ who: text })} />
            <Search label="What" value={what} onChange={(text) => narrow({ what: text })} />
          </>
        }
      >
        <Show of={entries}>
          {(page) => (
            <>
              {page.items.length ? (
                <Table label="Changes" columns={COLUMNS} rows={page.items} keyOf={(entry) => entry.id} />
              ) : (
                <Empty title={who || what ? "Nothing fits" : "Nobody has changed anything yet"} />
              )}
              <div class="pager">
                {cursors.length > 1 && <button type="button" onClick={() => setCursors(cursors.slice(0, -1))}>Newer</button>}
                {page.next && <button type="button" onClick={() => setCursors([...cursors, page.next])}>Older</button>}
              </div>
            </>
          )}
        </Show>
      </Card>
    </Page>
  );
}

function Outcome({ of }: { of: number }) {
  const isDone = of === 0 || (of >= 200 && of < 300);
  return <Badge tone={isDone ? "good" : "bad"}>{isDone ? "done" : `refused (${of})`}</Badge>;
}
