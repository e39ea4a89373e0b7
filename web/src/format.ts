// Numbers and times as people read them.
const COUNT = new Intl.NumberFormat("en");
const RATE = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const VALUE = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });

export function count(value: number): string {
  return COUNT.format(value);
}

export function rate(value: number | null): string {
  if (value === null) return "–";
  return value < 100 ? RATE.format(value) : COUNT.format(Math.round(value));
}

/** A measured value: as many digits as say something. */
export function value(measured: number | null | undefined): string {
  return measured == null ? "–" : VALUE.format(measured);
}

/** A measured value with its unit, the degree sign where it belongs. */
export function quantity(measured: number | null | undefined, unit = ""): string {
  const shown = unit === "C" || unit === "F" ? `°${unit}` : unit;
  return shown ? `${value(measured)} ${shown}` : value(measured);
}

const BYTE_UNITS = ["B", "kB", "MB", "GB", "TB"];

export function bytes(size: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(size, 1)) / 3), BYTE_UNITS.length - 1);
  return `${rate(size / 1_000 ** power)} ${BYTE_UNITS[power]}`;
}

/** "2 d 4 h", "3 h 12 min", "12 min", "8 s": the two largest units, or one when it is small. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [days, hours, minutes] = [Math.floor(whole / 86_400), Math.floor(whole / 3_600) % 24, Math.floor(whole / 60) % 60];
  if (days) return `${days} d ${hours} h`;
  if (hours) return `${hours} h ${minutes} min`;
  if (minutes) return `${minutes} min`;
  return `${whole} s`;
}

/** A delay: milliseconds while they matter. */
export function delay(milliseconds: number | null | undefined): string {
  if (milliseconds == null) return "–";
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  return milliseconds < 60_000 ? `${RATE.format(milliseconds / 1_000)} s` : duration(milliseconds / 1_000);
}

export function agoMs(thenMs: number, nowMs = Date.now()): string {
  const seconds = (nowMs - thenMs) / 1_000;
  return seconds < 2 ? "now" : `${duration(seconds)} ago`;
}

export function ago(originUs: number, nowMs: number): string {
  return agoMs(originUs / 1_000, nowMs);
}

/** A moment in this browser's time: the day only if it is another one. */
export function moment(atMs: number, nowMs = Date.now()): string {
  const at = new Date(atMs);
  const time = at.toLocaleTimeString("en-GB");
  if (at.toDateString() === new Date(nowMs).toDateString()) return time;
  return `${at.toLocaleDateString("en-CA")} ${time}`;
}

export function plural(number: number, one: string, many: string): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}
