import { useState } from "preact/hooks";
import { problemOf, Refusal } from "../api";
import { value } from "../format";
import { useLoad } from "../load";
import { Card, Search, Show } from "../ui/Page";
import { Table, type Column } from "../ui/Table";

interface Sample {
  name: string;
  labels: string;
  value: number;
  about: string;
}

const COLUMNS: Column<Sample>[] = [
  { title: "Metric", cell: (sample) => <span title={sample.about}>{sample.name}</span>, class: "name" },
  { title: "Labels", cell: (sample) => sample.labels, class: "wide" },
  { title: "Value", cell: (sample) => value(sample.value), numeric: true },
];
const EVERY_MS = 5_000;

/** The metrics of all parts, as Prometheus would read them; at first those of our own. */
export function Metrics() {
  const [filter, setFilter] = useState("");
  const samples = useLoad("metrics", fetchSamples, EVERY_MS);
  const wanted = filter.toLowerCase();
  return (
    <Card title="Metrics" id="metrics" aside={<Search label="Find a metric" value={filter} onChange={setFilter} />}>
      <Show of={samples}>
        {(all) => (
          <Table
            label="Metrics"
            columns={COLUMNS}
            rows={all.filter((sample) => (wanted ? `${sample.name} ${sample.labels}`.toLowerCase().includes(wanted) : sample.name.startsWith("catchment_")))}
            keyOf={(sample) => sample.name + sample.labels}
          />
        )}
      </Show>
    </Card>
  );
}

async function fetchSamples(signal: AbortSignal): Promise<Sample[]> {
  const response = await fetch("/metrics", { signal });
  if (!response.ok) throw new Refusal(await problemOf(response));
  return samplesOf(await response.text());
}

/** The samples of a text in Prometheus' format; the steps of histograms say nothing to people. */
function samplesOf(text: string): Sample[] {
  const about = new Map<string, string>();
  const samples: Sample[] = [];
  for (const line of text.split("\n")) {
    const help = /^# HELP (\S+) (.*)$/.exec(line);
    if (help) about.set(help[1]!, help[2]!);
    const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line);
    if (!match || /_(bucket|created)$/.test(match[1]!)) continue;
    const [, name = "", labels = "", told = ""] = match;
    samples.push({ name, labels: labels.replaceAll('"', ""), value: Number(told), about: about.get(name) ?? "" });
  }
  return samples;
}
