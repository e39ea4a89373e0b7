// Numbers and times as people read them.
const COUNT = new Intl.NumberFormat("en");
const RATE = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

export function count(value: number): string {
  return COUNT.format(value);
}

export function rate(value: number | null): string {
  if (value === null) return "–";
  return value < 100 ? RATE.format(value) : COUNT.format(Math.round(value));
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

export function ago(originUs: number, nowMs: number): string {
  const seconds = (nowMs - originUs / 1_000) / 1_000;
  return seconds < 2 ? "now" : `${duration(seconds)} ago`;
}

export function plural(number: number, one: string, many: string): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}
