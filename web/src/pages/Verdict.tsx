import type { NodeStatus } from "../types";
import { plural } from "../format";
import { Text } from "../ui/Text";

/** The answer to the first question: is all well, and if not, what is not. */
export function Verdict({ status }: { status: NodeStatus | null }) {
  const [tone, title, text] = judge(status);
  return (
    <section class={`verdict ${tone}`} aria-label="Node">
      <strong>{title}</strong>
      <span><Text>{text}</Text></span>
    </section>
  );
}

function judge(status: NodeStatus | null): [tone: string, title: string, text: string] {
  if (!status) return ["bad", "No answer", "The supervisor does not answer. Start the node with `catchment up`."];
  const waiting = status.components.filter((component) => component.needed && component.state !== "running");
  if (status.ready && !waiting.length) {
    const needed = status.components.filter((component) => component.needed).length;
    return ["good", "Ready", `${plural(needed, "component runs", "components run")} as they should.`];
  }
  const names = waiting.map((component) => `${component.name} (${component.state})`).join(", ");
  const tone = waiting.some((component) => component.state === "failed") ? "bad" : "fair";
  return [tone, status.ready ? "Ready" : "Not ready", names ? `Waiting for ${names}.` : "The node is starting."];
}
