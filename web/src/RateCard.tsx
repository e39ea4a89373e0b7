import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import type { RatePoint } from "./api";
import { rate as asRate } from "./format";

const WINDOW_S = 300;
const HEIGHT_PX = 200;

interface Props {
  rate: number | null;
  history: RatePoint[];
  nowMs: number;
}

export function RateCard({ rate, history, nowMs }: Props) {
  const [pointed, setPointed] = useState<RatePoint | null>(null);
  return (
    <section class="card rate" aria-labelledby="rate">
      <div class="heading">
        <h2 id="rate">Message rate</h2>
        <span class="quiet">{pointed ? describe(pointed) : "last 5 minutes"}</span>
      </div>
      <p class="big" data-testid="rate">
        {asRate(rate)} <small>messages/s</small>
      </p>
      <Chart history={history} nowMs={nowMs} onPoint={setPointed} />
    </section>
  );
}

interface ChartProps {
  history: RatePoint[];
  nowMs: number;
  onPoint: (point: RatePoint | null) => void;
}

function Chart({ history, nowMs, onPoint }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const shown = useRef(history);
  const scheme = useColourScheme();
  shown.current = history;

  useEffect(() => {
    const box = place.current!;
    const point = (index: number | null | undefined) => onPoint(index == null ? null : (shown.current[index] ?? null));
    const plot = new uPlot(options(box, point), dataOf(shown.current), box);
    chart.current = plot;
    const resized = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: HEIGHT_PX }));
    resized.observe(box);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [scheme]);

  useEffect(() => {
    chart.current?.setData(dataOf(history), false);
    chart.current?.setScale("x", { min: nowMs / 1_000 - WINDOW_S, max: nowMs / 1_000 });
  }, [history, scheme]);

  return <div ref={place} class="chart" role="img" aria-label="Message rate over the last five minutes" />;
}

function options(box: HTMLElement, onPoint: (index: number | null | undefined) => void): uPlot.Options {
  const style = getComputedStyle(box);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis: uPlot.Axis = {
    stroke: colour("--quiet"),
    font: `12px ${style.fontFamily}`,
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: box.clientWidth,
    height: HEIGHT_PX,
    padding: [8, 4, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
    hooks: { setCursor: [(plot) => onPoint(plot.cursor.left! < 0 ? null : plot.cursor.idx)] },
    scales: { x: { time: true }, y: { range: (_plot, _low, high) => [0, niceTop(high)] } },
    axes: [
      { ...axis, size: 28, space: 80, values: (_plot, times) => times.map(clock), grid: { show: false } },
      { ...axis, size: 56, space: 40, values: (_plot, rates) => rates.map((value) => asRate(value)) },
    ],
    series: [{}, { stroke: colour("--accent"), fill: colour("--accent-faint"), width: 2, points: { show: false } }],
  };
}

function dataOf(history: RatePoint[]): uPlot.AlignedData {
  return [history.map((point) => point.at_ms / 1_000), history.map((point) => point.rate_per_s)];
}

/** The next round number above the highest rate, so that the axis does not jump with every point. */
function niceTop(high: number | null): number {
  const target = Math.max(high ?? 0, 1) * 1.1;
  const power = 10 ** Math.floor(Math.log10(target));
  return [1, 2, 5, 10].map((step) => step * power).find((top) => top >= target)!;
}

function clock(seconds: number): string {
  return new Date(seconds * 1_000).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
}

function describe(point: RatePoint): string {
  return `${new Date(point.at_ms).toLocaleTimeString("en-GB")} · ${asRate(point.rate_per_s)}/s`;
}

/** Changes when the colours do: a canvas has to be painted anew. */
function useColourScheme(): boolean {
  const [query] = useState(() => matchMedia("(prefers-color-scheme: dark)"));
  const [dark, setDark] = useState(query.matches);
  useEffect(() => {
    const changed = () => setDark(query.matches);
    query.addEventListener("change", changed);
    return () => query.removeEventListener("change", changed);
  }, []);
  return dark;
}
