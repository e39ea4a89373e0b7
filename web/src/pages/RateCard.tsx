import { useMemo, useState } from "preact/hooks";
import { rate as asRate } from "../format";
import type { RatePoint } from "../types";
import { Chart } from "../ui/Chart";

const WINDOW_MS = 300_000;

interface Props {
  rate: number | null;
  history: RatePoint[];
  nowMs: number;
}

export function RateCard({ rate, history, nowMs }: Props) {
  const [pointed, setPointed] = useState<number | null>(null);
  const point = pointed === null ? undefined : history[pointed];
  const timesMs = useMemo(() => history.map((each) => each.at_ms), [history]);
  const lines = useMemo(() => [{ title: "rate", values: history.map((each) => each.rate_per_s), fill: true }], [history]);
  return (
    <section class="card rate" aria-labelledby="rate">
      <div class="heading">
        <h2 id="rate">Message rate</h2>
        <span class="quiet">{point ? describe(point) : "last 5 minutes"}</span>
      </div>
      <p class="big" data-testid="rate">
        {asRate(rate)} <small>messages/s</small>
      </p>
      <Chart
        label="Message rate over the last five minutes"
        timesMs={timesMs}
        lines={lines}
        windowMs={[nowMs - WINDOW_MS, nowMs]}
        heightPx={240}
        fromZero
        format={asRate}
        onPoint={setPointed}
      />
    </section>
  );
}

function describe(point: RatePoint): string {
  return `${new Date(point.at_ms).toLocaleTimeString("en-GB")} · ${asRate(point.rate_per_s)}/s`;
}
