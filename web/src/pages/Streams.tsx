import { useState } from "preact/hooks";
import type { Schemas } from "../api";
import { ago, count, rate } from "../format";
import { keyOf } from "../live";
import type { StreamState } from "../types";
import { Search } from "../ui/Page";
import { Table, type Column } from "../ui/Table";

type HopTotal = Schemas["HopTotal"];

const FILTER_FROM = 8;

interface Props {
  streams: StreamState[];
  nowMs: number;
}

export function Streams({ streams, nowMs }: Props) {
  const [filter, setFilter] = useState("");
  const wanted = filter.toLowerCase();
  const found = streams.filter((stream) => keyOf(stream).toLowerCase().includes(wanted)).sort(byKey);
  const columns: Column<StreamState>[] = [
    { title: "Stream", cell: (stream) => <strong>{stream.stream}</strong>, class: "name" },
    { title: "Gateway", cell: (stream) => `${stream.site} / ${stream.gateway}`, class: "place" },
    { title: "Accepted", cell: (stream) => count(stream.accepted), numeric: true },
    ...hopColumns(streams),
    { title: "Rate /s", cell: (stream) => rate(stream.rate_per_s), numeric: true },
    { title: "Missing", cell: (stream) => <Missing stream={stream} />, numeric: true },
    { title: "Under way", cell: (stream) => count(stream.under_way), numeric: true },
    { title: "Duplicates", cell: (stream) => count(stream.duplicates), numeric: true },
    { title: "Out of order", cell: (stream) => count(stream.out_of_order), numeric: true },
    { title: "Latest", cell: (stream) => ago(stream.last_origin_us, nowMs), numeric: true },
  ];
  return (
    <section class="card" aria-labelledby="streams">
      <div class="heading">
        <h2 id="streams">
          Streams {streams.length > 0 && <span class="quiet">{count(streams.length)}</span>}
        </h2>
        {streams.length >= FILTER_FROM && (
          <Search label="Filter streams" value={filter} onChange={setFilter} />
        )}
      </div>
      {streams.length === 0 ? <NoStreams /> : <Table label="Streams" columns={columns} rows={found} keyOf={keyOf} />}
      {streams.length > 0 && found.length === 0 && <p class="empty">No stream matches “{filter}”.</p>}
    </section>
  );
}

/** A column for every place on the streams' way. Of many sites each has its own, and they share one. */
function hopColumns(streams: StreamState[]): Column<StreamState>[] {
  // The longest way has all hops in their order.
  const byWay = [...streams].sort((one, other) => other.hops.length - one.hops.length);
  const titles = new Set(byWay.flatMap((stream) => stream.hops.map((hop) => titleOf(stream, hop))));
  return [...titles].map((title) => ({
    title,
    cell: (stream) => {
      const hop = stream.hops.find((candidate) => titleOf(stream, candidate) === title);
      return hop ? count(hop.received) : "";
    },
    numeric: true,
  }));
}

function titleOf(stream: StreamState, hop: HopTotal): string {
  const here = stream.hops.at(-1)?.node;
  const place = hop.node === stream.site && hop.node !== here ? "at its site" : `at ${hop.node}`;
  const title = hop.stage === "broker" ? place : `${hop.stage} ${place}`;
  return title.charAt(0).toUpperCase() + title.slice(1);
}

function Missing({ stream }: { stream: StreamState }) {
  if (!stream.missing) return <>0</>;
  const ranges = stream.gaps.map(({ first, last }) => (first === last ? count(first) : `${count(first)} to ${count(last)}`));
  return (
    <>
      <strong class="bad">{count(stream.missing)}</strong> <span class="quiet">numbers {ranges.join(", ")}</span>
    </>
  );
}

function NoStreams() {
  return (
    <div class="empty">
      <p>No records have arrived yet. Send some of your own making:</p>
      <code>catchment simulate lines --rate 100 --count 10000</code>
      <p>
        or let a device in with <code>catchment provider add NAME</code>.
      </p>
    </div>
  );
}

function byKey(one: StreamState, other: StreamState): number {
  return keyOf(one).localeCompare(keyOf(other), "en", { numeric: true });
}
