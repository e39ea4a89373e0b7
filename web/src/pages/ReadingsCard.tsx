import { useEffect, useMemo, useState } from "preact/hooks";
import { count, moment, plural, quantity, value } from "../format";
import type { Readings } from "../types";
import { Chart } from "../ui/Chart";
import { Card, Empty, Wrong } from "../ui/Page";
import { firstNumber, useLiveReadings, useSeries, useStored } from "./readings";

const RANGES = [
  { title: "15 min", ms: 900_000 },
  { title: "1 h", ms: 3_600_000 },
  { title: "1 d", ms: 86_400_000 },
  { title: "7 d", ms: 604_800_000 },
  { title: "All", ms: null },
];
const TICK_MS = 1_000;

interface Shown {
  sinceMs: number | null;
  untilMs: number | null;
  /** What the button is called that chose it, and how long it is if it goes on with the time. */
  range: string;
  lengthMs: number | null;
}

function rangeOf(title: string): Shown {
  const ms = RANGES.find((each) => each.title === title)!.ms;
  return { sinceMs: ms && Date.now() - ms, untilMs: null, range: title, lengthMs: ms };
}

/** What a sensor measured and what it measures now, in one picture. */
export function ReadingsCard({ sensor, unit }: { sensor: string; unit: string }) {
  const [shown, setShown] = useState(() => rangeOf("15 min"));
  const [field, setField] = useState("");
  const [pointed, setPointed] = useState<number | null>(null);
  const stored = useStored(sensor, field, shown.sinceMs, shown.untilMs);
  const isLive = shown.untilMs === null;
  const live = useLiveReadings(sensor, isLive);
  const now = field || stored.data?.field || firstNumber(live) || "";
  const series = useSeries(stored.data, live, now);
  const nowMs = useNow(isLive);
  const lines = useMemo(
    () => [
      { title: "highest", values: series.high, width: 0 },
      { title: "lowest", values: series.low, width: 0 },
      { title: "mean", values: series.mean },
    ],
    [series],
  );
  const fromMs = (shown.lengthMs ? nowMs - shown.lengthMs : shown.sinceMs) ?? series.timesMs[0] ?? nowMs - 900_000;
  const at = pointed === null ? undefined : series.timesMs[pointed];
  const span = shown.untilMs ?? nowMs;
  return (
    <Card
      title={now || "Readings"}
      id="readings"
      class="readings"
      aside={
        <>
          {(stored.data?.fields.length ?? 0) > 1 && (
            <select aria-label="Field" value={now} onInput={(event) => setField(event.currentTarget.value)}>
              {stored.data!.fields.map((each) => <option key={each} value={each} selected={each === now}>{each}</option>)}
            </select>
          )}
          <div class="ranges" role="group" aria-label="Range">
            {RANGES.map((each) => (
              <button key={each.title} type="button" aria-pressed={shown.range === each.title} onClick={() => setShown(rangeOf(each.title))}>
                {each.title}
              </button>
            ))}
          </div>
        </>
      }
    >
      <p class="big" data-testid="latest">
        {quantity(at === undefined ? series.latest : series.mean[pointed!], unit)}{" "}
        <small>{at === undefined ? (isLive && live.length ? "live" : "latest") : describe(at, series.low[pointed!], series.high[pointed!])}</small>
      </p>
      {stored.error !== undefined && <Wrong error={stored.error} onRetry={stored.reload} />}
      {series.timesMs.length > 0 && (
        <Chart
          label={`${now} of ${sensor}`}
          timesMs={series.timesMs}
          lines={lines}
          band={[0, 1]}
          windowMs={[fromMs, span]}
          heightPx={280}
          onPoint={setPointed}
          onZoom={(from, until) => setShown({ sinceMs: from, untilMs: until, range: "", lengthMs: null })}
        />
      )}
      <Below stored={stored.data} isEmpty={!series.timesMs.length} live={isLive ? live.length : null} />
    </Card>
  );
}

/** What the chart is made of, or that there is nothing to draw. */
function Below({ stored, isEmpty, live }: { stored?: Readings; isEmpty: boolean; live: number | null }) {
  if (!stored) return <p class="loading quiet" aria-busy="true">Loading what is stored…</p>;
  if (isEmpty) {
    return (
      <Empty title="No readings in this range">
        <p>Readings are drawn as they come. Choose a longer range to see older ones.</p>
      </Empty>
    );
  }
  return (
    <p class="quiet">
      {plural(stored.count, "stored reading", "stored readings")}
      {stored.bucket_ms ? `, drawn as lowest, mean and highest of every ${bucket(stored.bucket_ms)}` : ""}
      {live === null ? "" : `; ${count(live)} live`}. Drag over the chart to look closer.
    </p>
  );
}

function describe(atMs: number, low: number | null | undefined, high: number | null | undefined): string {
  return low === high ? moment(atMs) : `${moment(atMs)} · ${value(low)} to ${value(high)}`;
}

function bucket(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${count(Math.round(ms / 1_000))} s`;
}

/** The time, which goes on as long as the chart is live. */
function useNow(isLive: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isLive) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [isLive]);
  return now;
}
