import { agoMs } from "../format";
import { to } from "../router";
import type { Alert } from "../types";
import { Badge } from "../ui/Page";

/** An alert in a list: its sentence, and how it stands. */
export function AlertLine({ alert }: { alert: Alert }) {
  const [tone, word] = standing(alert);
  return (
    <li>
      <span class="line-main">
        <a href={to(["alerts", alert.id])}><strong>{alert.sensor_name || alert.sensor}</strong></a> <span class="quiet">{withoutName(alert.sentence)}</span>
      </span>
      <Badge tone={tone}>{word}</Badge>
      <time class="quiet">{agoMs(alert.raised_ms ?? alert.at_ms)}</time>
    </li>
  );
}

/** The usual sentence begins with the sensor and where it is; beside the sensor's name that is too much. */
export function withoutName(sentence: string): string {
  return sentence.replace(/^[^:]*\): /, "");
}

/** How an alert stands, as tone and word. */
export function standing(alert: Alert): [tone: string, word: string] {
  if (alert.state === "told") return alert.acknowledged ? ["idle", "seen"] : ["fair", "notice"];
  if (alert.state === "cleared") return ["good", "over"];
  return alert.acknowledged ? ["fair", "acknowledged"] : ["bad", "open"];
}
