import { useState } from "preact/hooks";
import { API, get, list, Refusal, type Page as ApiPage } from "../api";
import { agoMs, count, value as number } from "../format";
import { useLoad } from "../load";
import { replace, to, type Route } from "../router";
import { useSession } from "../session";
import type { Twin, TwinFeed, TwinType } from "../types";
import { Card, Empty, Page, Show, Tabs } from "../ui/Page";
import { Table, type Column } from "../ui/Table";
import { Text } from "../ui/Text";
import { TwinFeeds } from "./TwinFeeds";
import { TwinForm } from "./TwinForm";
import { TwinPage } from "./TwinPage";
import { TwinTypes } from "./TwinTypes";

const MOST = 500;

/** Objects with their values, searched by an expression. */
export function Twins({ route }: { route: Route }) {
  const [, part, site, id] = route.path;
  if (part === "of" && site && id) return <TwinPage key={`${site}/${id}`} site={site} id={id} />;
  if (part === "types" || part === "feeds") return <TwinDeclarations key={part} part={part} />;
  return <TwinSearch where={route.query.get("where") ?? ""} />;
}

function TwinTabs({ now }: { now: string }) {
  const { may } = useSession();
  if (!may("registry:read")) return null;
  const tabs = [
    { title: "Objects", href: to(["twins"]) },
    { title: "Types", href: to(["twins", "types"]) },
    { title: "Feeds", href: to(["twins", "feeds"]) },
  ];
  return <Tabs label="Twins" now={now} tabs={tabs} />;
}

/** What objects are like, and where their changes come from. */
function TwinDeclarations({ part }: { part: "types" | "feeds" }) {
  const { may } = useSession();
  const [adding, setAdding] = useState(false);
  const declared = useLoad("twin declarations", loadDeclarations, 5_000);
  const done = () => {
    setAdding(false);
    declared.reload();
  };
  return (
    <Page
      title="Twins"
      needs={["twins:read", "registry:read"]}
      about="Objects that the site is made of, with their values as they are now."
      actions={may("registry:write") && <button type="button" class="primary" onClick={() => setAdding(true)}>Declare a {part.slice(0, -1)}</button>}
    >
      <TwinTabs now={to(["twins", part])} />
      <Show of={declared}>
        {({ types, feeds }) =>
          part === "types" ? (
            <TwinTypes items={types} adding={adding} onDone={done} />
          ) : (
            <TwinFeeds items={feeds} types={types} adding={adding} onDone={done} />
          )
        }
      </Show>
    </Page>
  );
}

async function loadDeclarations(signal: AbortSignal): Promise<{ types: TwinType[]; feeds: TwinFeed[] }> {
  const [types, feeds] = await Promise.all([
    list<TwinType>(`${API}/twin-types`, {}, signal),
    list<TwinFeed>(`${API}/twin-feeds`, {}, signal),
  ]);
  return { types, feeds };
}

function TwinSearch({ where }: { where: string }) {
  const { may } = useSession();
  const [text, setText] = useState(where);
  const [making, setMaking] = useState(false);
  const twins = useLoad(
    `twins ${where}`,
    (signal) => get<ApiPage<Twin> & { missing_partitions: number[] }>(`${API}/twins`, { where, limit: MOST }, signal),
    5_000,
  );
  const place = placeOf(twins.error);
  const submit = (event: Event) => {
    event.preventDefault();
    replace(to(["twins"], { where: text.trim() }));
    if (text.trim() === where) twins.reload();
  };
  return (
    <Page
      title="Twins"
      needs={["twins:read"]}
      about="Objects that the site is made of, with their values as they are now."
      actions={may("twins:write") && <button type="button" class="primary" onClick={() => setMaking(true)}>New object</button>}
    >
      <TwinTabs now={to(["twins"])} />
      <Card>
        <form class="search" role="search" onSubmit={submit}>
          <label for="where">Which ones</label>
          <div class="search-line">
            <input
              id="where"
              class="code"
              value={text}
              spellcheck={false}
              autocomplete="off"
              placeholder={'temperature > 80 and type = "oven"'}
              aria-invalid={place ? "true" : undefined}
              aria-describedby="where-about"
              onInput={(event) => setText(event.currentTarget.value)}
            />
            <button type="submit" class="primary">Search</button>
          </div>
          <div id="where-about">
            {place ? <Mistake text={where} {...place} /> : <p class="hint">Values and id, site, type, version. Compare with = != &lt; &lt;= &gt; &gt;=, in, like, exists; join with and, or, not.</p>}
          </div>
        </form>
        {!place && (
          <Show of={twins}>
            {(page) => (
              <>
                {page.missing_partitions.length > 0 && <p class="notice">Some objects are not here: no instance answers for {count(page.missing_partitions.length)} of the partitions at this moment.</p>}
                {page.items.length ? (
                  <Table label="Objects" columns={COLUMNS} rows={page.items} keyOf={(twin) => `${twin.site}/${twin.id}`} />
                ) : (
                  <Nothing isAll={!where} />
                )}
                {page.next && <p class="quiet">The first {count(MOST)} are shown. Say more exactly which ones you want.</p>}
              </>
            )}
          </Show>
        )}
      </Card>
      {making && <TwinForm onClose={() => { setMaking(false); twins.reload(); }} />}
    </Page>
  );
}

interface Place {
  column: number;
  sentence: string;
}

function placeOf(error: unknown): Place | null {
  if (!(error instanceof Refusal) || error.problem.code !== "invalid-expression") return null;
  const match = /at column (\d+): (.*)$/s.exec(error.problem.detail);
  return match && { column: Number(match[1]), sentence: match[2]! };
}

/** The expression with a mark where it cannot be read on. */
function Mistake({ text, column, sentence }: Place & { text: string }) {
  return (
    <div class="mistake" role="alert">
      <code>
        {text.slice(0, column - 1)}
        <mark>{text.slice(column - 1, column) || " "}</mark>
        {text.slice(column)}
      </code>
      <p class="wrong">Column {column}: <Text>{sentence}</Text></p>
    </div>
  );
}

function Nothing({ isAll }: { isAll: boolean }) {
  if (!isAll) return <Empty title="No object is meant by this"><p>Change the expression, or clear it to see all.</p></Empty>;
  return (
    <Empty title="There are no objects yet">
      <p>Declare a <a href={to(["twins", "types"])}>type</a> of objects, and a <a href={to(["twins", "feeds"])}>feed</a> that keeps them current.</p>
    </Empty>
  );
}

const COLUMNS: Column<Twin>[] = [
  { title: "Object", cell: (twin) => <a href={to(["twins", "of", twin.site, twin.id])}><strong>{twin.id}</strong></a>, class: "name" },
  { title: "Type", cell: (twin) => twin.type },
  { title: "Site", cell: (twin) => twin.site },
  { title: "Values", cell: (twin) => <Some of={twin.values} />, class: "wide" },
  { title: "Version", cell: (twin) => count(twin.version), numeric: true },
  { title: "Changed", cell: (twin) => agoMs(twin.updated_ms), numeric: true },
];

function Some({ of }: { of: Twin["values"] }) {
  const all = Object.entries(of);
  return (
    <>
      {all.slice(0, 4).map(([name, each]) => <span key={name} class="pair"><span class="quiet">{name}</span> {shown(each)} </span>)}
      {all.length > 4 && <span class="quiet">and {all.length - 4} more</span>}
    </>
  );
}

export function shown(each: unknown): string {
  if (typeof each === "number") return number(each);
  return each === true ? "yes" : each === false ? "no" : String(each);
}
