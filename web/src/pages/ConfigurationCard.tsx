import { useState } from "preact/hooks";
import { API, get, type Schemas } from "../api";
import { useLoad } from "../load";
import { Card, Search, Show } from "../ui/Page";
import { Table, type Column } from "../ui/Table";

type Configuration = Schemas["Configuration"];
type Setting = Schemas["Setting"];

const COLUMNS: Column<Setting>[] = [
  { title: "Key", cell: (setting) => <strong>{setting.key}</strong>, class: "name" },
  { title: "Value", cell: (setting) => textOf(setting.value), class: "wide" },
  { title: "From", cell: (setting) => setting.from, class: "place" },
];

/** The configuration in use, for those who set up nodes; at first what is not as it is by default. */
export function ConfigurationCard() {
  const [filter, setFilter] = useState("");
  const configuration = useLoad("configuration", (signal) => get<Configuration>(`${API}/configuration`, {}, signal));
  const wanted = filter.toLowerCase();
  const isShown = (setting: Setting) => (wanted ? setting.key.includes(wanted) : setting.from !== "default");
  return (
    <Card title="Configuration" id="configuration" aside={<Search label="Find a key" value={filter} onChange={setFilter} />}>
      <Show of={configuration}>
        {({ file, items }) => (
          <>
            <p class="quiet">{file ? `From ${file} and the environment.` : "There is no file."} It is changed there, and read when the node starts. All that is not listed has its default.</p>
            <Table label="Configuration" columns={COLUMNS} rows={items.filter(isShown)} keyOf={(setting) => setting.key} />
          </>
        )}
      </Show>
    </Card>
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : value == null ? "" : JSON.stringify(value);
}
