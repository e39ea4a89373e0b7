// Stored and live readings of a sensor as one series.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { API, address, get, type Schemas } from "../api";
import { useEvents } from "../events";
import { useLoad } from "../load";
import type { Readings } from "../types";

export interface Series {
  timesMs: number[];
  low: (number | null)[];
  high: (number | null)[];
  mean: (number | null)[];
  latest: number | null;
}

type LiveReading = Schemas["LiveReading"];

const MOST_LIVE = 5_000;
const POINTS = 800;
// What came live is in the lake by then.
const REFRESH_MS = 60_000;

export function useStored(sensor: string, field: string, sinceMs: number | null, untilMs: number | null) {
  const params = { sensor, field, since: iso(sinceMs), until: iso(untilMs), points: POINTS };
  return useLoad(JSON.stringify(params), (signal) => get<Readings>(`${API}/readings`, params, signal), untilMs === null ? REFRESH_MS : 0);
}

/** The readings as they come; the newest few thousand are kept. */
export function useLiveReadings(sensor: string, isLive: boolean): LiveReading[] {
  const [readings, setReadings] = useState<LiveReading[]>([]);
  useEffect(() => setReadings([]), [sensor]);
  useEvents(isLive ? address(`${API}/readings/live`, { sensor }) : null, ["reading"], (batch) =>
    setReadings((before) => [...before, ...batch.map((each) => each.data as LiveReading)].slice(-MOST_LIVE)),
  );
  return readings;
}

/** The field to begin with, while the lake has not answered yet. */
export function firstNumber(live: LiveReading[]): string | undefined {
  return Object.entries(live.at(-1)?.values ?? {}).find(([, measured]) => typeof measured === "number")?.[0];
}

/** One series of both: what is stored, and behind it what came since. */
export function useSeries(stored: Readings | undefined, live: LiveReading[], field: string): Series {
  const merged = useRef<Map<number, number>>(new Map());
  return useMemo(() => {
    const fromMs = stored?.points.at(-1)?.at_ms ?? 0;
    merged.current = new Map();
    for (const reading of live) {
      const measured = reading.values[field];
      if (typeof measured === "number" && reading.at_ms > fromMs) merged.current.set(reading.at_ms, measured);
    }
    const later = [...merged.current].sort(([one], [other]) => one - other);
    const points = stored?.points ?? [];
    const all: Row[] = [
      ...points.map((each): Row => [each.at_ms, each.min, each.max, each.mean]),
      ...later.map(([atMs, measured]): Row => [atMs, measured, measured, measured]),
    ];
    const rows = withGaps(all);
    return {
      timesMs: rows.map((row) => row[0]),
      low: rows.map((row) => row[1]),
      high: rows.map((row) => row[2]),
      mean: rows.map((row) => row[3]),
      latest: all.at(-1)?.[3] ?? null,
    };
  }, [stored, live, field]);
}

type Row = [atMs: number, low: number | null, high: number | null, mean: number | null];

const SILENT_STEPS = 10;
const SILENT_MS = 10_000;

/** Breaks the line where a sensor was silent for long: nobody knows what it would have measured. */
function withGaps(rows: Row[]): Row[] {
  const steps = rows.slice(1).map((row, index) => row[0] - rows[index]![0]);
  const usualMs = [...steps].sort((one, other) => one - other)[Math.floor(steps.length / 2)] ?? 0;
  const silentMs = Math.max(SILENT_MS, usualMs * SILENT_STEPS);
  return rows.flatMap((row, index) => {
    const before = rows[index - 1];
    return before && row[0] - before[0] > silentMs ? [[before[0] + 1, null, null, null] as Row, row] : [row];
  });
}

function iso(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}
