import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { value as asValue } from "../format";
import { useIsDark } from "../theme";

export interface Line {
  title: string;
  values: (number | null)[];
  /** The name of its colour: accent, good, fair, bad, quiet. */
  tone?: string;
  width?: number;
  fill?: boolean;
  /** Whether the line goes on over places without a value. */
  spanGaps?: boolean;
}

export interface Level {
  value: number;
  title: string;
  tone: string;
}

export interface Span {
  fromMs: number;
  toMs: number;
  tone: string;
}

interface Props {
  label: string;
  timesMs: number[];
  lines: Line[];
  /** Two lines between which the room is filled, by their places. */
  band?: [number, number];
  levels?: Level[];
  spans?: Span[];
  windowMs?: [from: number, to: number];
  heightPx?: number;
  fromZero?: boolean;
  format?: (value: number) => string;
  onPoint?: (index: number | null) => void;
  /** Called with a range that was dragged over. */
  onZoom?: (fromMs: number, toMs: number) => void;
}

/** Lines over time; data may change every moment, the drawing begins anew only when its shape or the colours do. */
export function Chart(props: Props) {
  const { label, timesMs, lines, heightPx = 220, windowMs } = props;
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  const dark = useIsDark();
  latest.current = props;
  const shape = lines.map((line) => `${line.title}/${line.tone}`).join();

  useEffect(() => {
    const box = place.current!;
    const made = new uPlot(options(box, latest, heightPx), dataOf(latest.current), box);
    plot.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: box.clientWidth, height: heightPx }));
    resized.observe(box);
    return () => {
      resized.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [dark, shape, heightPx]);

  useEffect(() => {
    plot.current?.setData(dataOf(latest.current), !windowMs);
    if (windowMs) plot.current?.setScale("x", { min: windowMs[0] / 1_000, max: windowMs[1] / 1_000 });
  }, [timesMs, lines, windowMs?.[0], windowMs?.[1], dark, shape]);

  // The height is kept while the drawing is made anew, so that the page does not jump.
  return <div ref={place} class="chart" role="img" aria-label={label} style={{ height: `${heightPx}px` }} />;
}

function dataOf({ timesMs, lines }: Props): uPlot.AlignedData {
  return [timesMs.map((time) => time / 1_000), ...lines.map((line) => line.values)] as uPlot.AlignedData;
}

function options(box: HTMLElement, latest: { current: Props }, heightPx: number): uPlot.Options {
  const colour = palette(box);
  const { lines, band, fromZero, format = asValue, onPoint, onZoom } = latest.current;
  const axis: uPlot.Axis = {
    stroke: colour("quiet"),
    font: `12px ${getComputedStyle(box).fontFamily}`,
    grid: { stroke: colour("line"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: box.clientWidth,
    height: heightPx,
    padding: [12, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: Boolean(onZoom), y: false, setScale: false }, points: { size: 7 } },
    select: { show: Boolean(onZoom), left: 0, top: 0, width: 0, height: 0 },
    hooks: {
      setCursor: onPoint ? [(plot) => onPoint(plot.cursor.left! < 0 ? null : (plot.cursor.idx ?? null))] : [],
      setSelect: onZoom ? [(plot) => zoom(plot, onZoom)] : [],
      drawClear: [(plot) => drawSpans(plot, latest.current.spans ?? [], colour)],
      draw: [(plot) => drawLevels(plot, latest.current.levels ?? [], colour)],
    },
    scales: { x: { time: true }, y: { range: (_plot, low, high) => rangeOf(low, high, fromZero, latest.current.levels) } },
    axes: [
      { ...axis, size: 28, space: 80, values: (_plot, times) => clocks(times), grid: { show: false } },
      { ...axis, size: 56, space: 40, values: (_plot, values) => values.map((each) => format(each)) },
    ],
    series: [{}, ...lines.map((line) => seriesOf(line, colour))],
    bands: band && [{ series: [band[0] + 1, band[1] + 1], fill: colour("accent-faint") }],
  };
}

type Palette = (name: string) => string;

function palette(box: HTMLElement): Palette {
  const probe = document.createElement("i");
  box.append(probe);
  const cache: Record<string, string> = {};
  return (name) => {
    if (!(name in cache)) {
      probe.style.color = `var(--${name})`;
      cache[name] = getComputedStyle(probe).color;
    }
    return cache[name]!;
  };
}

function seriesOf(line: Line, colour: Palette): uPlot.Series {
  const tone = line.tone ?? "accent";
  return {
    label: line.title,
    stroke: colour(tone),
    fill: line.fill ? colour(`${tone}-faint`) : undefined,
    width: line.width ?? 2,
    points: { show: line.width !== 0 && undefined, size: 4 },
    spanGaps: line.spanGaps ?? false,
  };
}

function rangeOf(low: number | null, high: number | null, fromZero?: boolean, levels: Level[] = []): [number, number] {
  if (fromZero) return [0, niceTop(high)];
  const all = [low, high, ...levels.map((level) => level.value)].filter((each): each is number => each !== null);
  if (!all.length) return [0, 1];
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const room = (most - least || Math.abs(most) || 1) * 0.1;
  return [least - room, most + room];
}

/** The next round number above the highest, so that the axis does not jump with every point. */
function niceTop(high: number | null): number {
  const target = Math.max(high ?? 0, 1) * 1.1;
  const power = 10 ** Math.floor(Math.log10(target));
  return [1, 2, 5, 10].map((step) => step * power).find((top) => top >= target)!;
}

function zoom(plot: uPlot, onZoom: (fromMs: number, toMs: number) => void): void {
  const { left, width } = plot.select;
  if (width < 8) return;
  onZoom(plot.posToVal(left, "x") * 1_000, plot.posToVal(left + width, "x") * 1_000);
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
}

function drawSpans({ ctx, bbox, valToPos }: uPlot, spans: Span[], colour: Palette): void {
  for (const span of spans) {
    const from = Math.max(valToPos(span.fromMs / 1_000, "x", true), bbox.left);
    const until = Math.min(valToPos(span.toMs / 1_000, "x", true), bbox.left + bbox.width);
    if (until <= from) continue;
    ctx.fillStyle = colour(`${span.tone}-faint`);
    ctx.fillRect(from, bbox.top, Math.max(until - from, 2), bbox.height);
  }
}

function drawLevels({ ctx, bbox, valToPos }: uPlot, levels: Level[], colour: Palette): void {
  const scale = devicePixelRatio;
  ctx.save();
  ctx.lineWidth = scale;
  ctx.font = `${12 * scale}px system-ui, sans-serif`;
  ctx.textAlign = "right";
  for (const level of levels) {
    const y = valToPos(level.value, "y", true);
    ctx.strokeStyle = ctx.fillStyle = colour(level.tone);
    ctx.setLineDash([6 * scale, 4 * scale]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.fillText(level.title, bbox.left + bbox.width - 4 * scale, y - 5 * scale);
  }
  ctx.restore();
}

/** Times of an axis: with seconds or days only where they are close together or far apart. */
function clocks(times: number[]): string[] {
  const stepS = times.length > 1 ? times[1]! - times[0]! : 60;
  return times.map((seconds) => {
    const at = new Date(seconds * 1_000);
    if (stepS >= 86_400) return at.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
    const style = { hour: "2-digit", minute: "2-digit", second: stepS < 60 ? "2-digit" : undefined } as const;
    return at.toLocaleTimeString("en-GB", style);
  });
}
