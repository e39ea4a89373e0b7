// The live view: a snapshot kept current by deltas, and whether the connection holds.
import { useEffect, useState } from "preact/hooks";
import { whoAmI, type Schemas } from "./api";
import type { StreamState } from "./types";

type Snapshot = Schemas["Snapshot"];
type Delta = Schemas["Delta"];

const HISTORY_MS = 300_000;
const SILENCE_MS = 5_000;
const RETRY_MS = 2_000;

export type Connection = "connecting" | "live" | "lost";

export interface View extends Snapshot {
  /** When the status arrived, on this browser's clock: running times are counted on from there. */
  statusAtMs: number;
}

export interface Live {
  connection: Connection;
  view: View | null;
}

/** Follows the node until the session ends, reconnecting by itself; not at all for a caller who may not. */
export function useLive(isAllowed: boolean, onSessionEnd: () => void): Live {
  const [live, setLive] = useState<Live>({ connection: "connecting", view: null });
  useEffect(() => (isAllowed ? follow(setLive, onSessionEnd) : undefined), []);
  return live;
}

function follow(set: (change: (live: Live) => Live) => void, onSessionEnd: () => void): () => void {
  let source: EventSource | undefined;
  let timer: number | undefined;
  let ended = false;

  const within = (delayMs: number, act: () => void) => {
    clearTimeout(timer);
    timer = window.setTimeout(act, delayMs);
  };
  const show = (change: (view: View | null) => View | null) => {
    within(SILENCE_MS, lose);
    set((live) => ({ connection: "live", view: change(live.view) }));
  };
  const connect = () => {
    source = new EventSource("/api/v1/live");
    source.addEventListener("snapshot", (event) => show(() => begin(JSON.parse(event.data))));
    source.addEventListener("delta", (event) => show((view) => view && advance(view, JSON.parse(event.data))));
    source.addEventListener("error", lose);
    within(SILENCE_MS, lose);
  };
  // An event source cannot say why it was refused, so the session is asked for before each new try.
  const retry = async () => {
    const signedIn = await whoAmI().then((who) => who !== null, () => undefined);
    if (ended) return;
    if (signedIn === false) onSessionEnd();
    else if (signedIn) connect();
    else within(RETRY_MS, retry);
  };
  const lose = () => {
    source?.close();
    set((live) => ({ ...live, connection: "lost" }));
    within(RETRY_MS, retry);
  };

  connect();
  return () => {
    ended = true;
    clearTimeout(timer);
    source?.close();
  };
}

function begin(snapshot: Snapshot): View {
  return { ...snapshot, statusAtMs: Date.now() };
}

function advance(view: View, delta: Delta): View {
  const point = { at_ms: delta.at_ms, rate_per_s: delta.totals.rate_per_s };
  const status = "status" in delta ? { status: delta.status ?? null, statusAtMs: Date.now() } : {};
  return {
    ...view,
    ...status,
    at_ms: delta.at_ms,
    ledger_current: delta.ledger_current,
    totals: delta.totals,
    sites: delta.sites,
    alerts: delta.alerts,
    streams: delta.streams.length ? merge(view.streams, delta.streams) : view.streams,
    history: [...view.history.filter((old) => old.at_ms > delta.at_ms - HISTORY_MS), point],
  };
}

function merge(known: StreamState[], changed: StreamState[]): StreamState[] {
  const byKey = new Map(known.map((stream) => [keyOf(stream), stream]));
  for (const stream of changed) byKey.set(keyOf(stream), stream);
  return [...byKey.values()];
}

export function keyOf(stream: StreamState): string {
  return `${stream.site}/${stream.gateway}/${stream.stream}`;
}
