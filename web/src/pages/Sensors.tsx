import { useState } from "preact/hooks";
import { API, list } from "../api";
import { agoMs, value } from "../format";
import { useLoad } from "../load";
import { to, type Route } from "../router";
import { useSession } from "../session";
import type { Device, Sensor, SensorType } from "../types";
import { Card, Empty, Page, Search, Show, Tabs } from "../ui/Page";
import { Table, type Column } from "../ui/Table";
import { Devices } from "./Devices";
import { Mappings } from "./Mappings";
import { SensorDetail } from "./SensorDetail";
import { ConfirmSensor, SensorForm } from "./SensorForm";
import { SensorTypes } from "./SensorTypes";

export interface Registry {
  sensors: Sensor[];
  devices: Device[];
  types: SensorType[];
}

const EVERY_MS = 3_000;

/** Sensors, the devices that they belong to, and what they measure. */
export function Sensors({ route }: { route: Route }) {
  const [, part, site, id] = route.path;
  if (part === "of" && site && id) return <SensorDetail key={`${site}/${id}`} site={site} id={id} />;
  return <RegistryPages part={part ?? ""} />;
}

export async function loadRegistry(signal: AbortSignal): Promise<Registry> {
  const [sensors, devices, types] = await Promise.all([
    list<Sensor>(`${API}/sensors`, {}, signal),
    list<Device>(`${API}/devices`, {}, signal),
    list<SensorType>(`${API}/sensor-types`, {}, signal),
  ]);
  return { sensors, devices, types };
}

function RegistryPages({ part }: { part: string }) {
  const { may } = useSession();
  const [adding, setAdding] = useState(false);
  const registry = useLoad("registry", loadRegistry, EVERY_MS);
  const now = part === "devices" || part === "types" || part === "mappings" ? part : "";
  const waiting = registry.data?.sensors.filter((sensor) => !sensor.registered) ?? [];
  const action = { "": "Register a sensor", devices: "Register a device", types: "Register a sensor type", mappings: "Declare a mapping" }[now];
  return (
    <Page
      title="Sensors and devices"
      needs={["registry:read"]}
      about="What measures, where it stands, and what its readings mean."
      actions={
        may("registry:write") && (
          <button type="button" class="primary" onClick={() => setAdding(true)}>{action}</button>
        )
      }
    >
      <Tabs
        label="Registry"
        now={to(["sensors", now].filter(Boolean))}
        tabs={[
          { title: "Sensors", href: to(["sensors"]), count: waiting.length },
          { title: "Devices", href: to(["sensors", "devices"]) },
          { title: "Sensor types", href: to(["sensors", "types"]) },
          { title: "Mappings", href: to(["sensors", "mappings"]) },
        ]}
      />
      <Show of={registry}>
        {(known) => {
          const props = { registry: known, adding, onDone: () => { setAdding(false); registry.reload(); } };
          if (now === "devices") return <Devices {...props} />;
          if (now === "types") return <SensorTypes {...props} />;
          if (now === "mappings") return <Mappings adding={adding} onDone={props.onDone} />;
          return <SensorLists {...props} />;
        }}
      </Show>
    </Page>
  );
}

export interface ListProps {
  registry: Registry;
  adding: boolean;
  onDone: () => void;
}

function SensorLists({ registry, adding, onDone }: ListProps) {
  const [filter, setFilter] = useState("");
  const registered = registry.sensors.filter((sensor) => sensor.registered);
  const waiting = registry.sensors.filter((sensor) => !sensor.registered);
  const wanted = filter.toLowerCase();
  const found = registered.filter((sensor) => `${sensor.id} ${sensor.name} ${sensor.device_id} ${sensor.site}`.toLowerCase().includes(wanted));
  return (
    <>
      {waiting.length > 0 && <Waiting sensors={waiting} registry={registry} onDone={onDone} />}
      <Card
        title="Registered sensors"
        id="registered"
        aside={registered.length > 5 && <Search label="Filter sensors" value={filter} onChange={setFilter} />}
      >
        {registered.length ? (
          <Table label="Registered sensors" columns={columnsOf(registry)} rows={found} keyOf={keyOf} />
        ) : (
          <Empty title="No sensor is registered yet">
            <p>
              Register a device and a sensor type first, then the sensor. Or let the sensor send: it then waits here to be confirmed.
            </p>
          </Empty>
        )}
      </Card>
      {adding && <SensorForm registry={registry} onClose={onDone} />}
    </>
  );
}

function Waiting({ sensors, registry, onDone }: { sensors: Sensor[]; registry: Registry; onDone: () => void }) {
  const { may } = useSession();
  const [chosen, setChosen] = useState<Sensor | null>(null);
  const columns: Column<Sensor>[] = [
    NAME,
    { title: "First seen", cell: (sensor) => (sensor.seen ? agoMs(sensor.seen.first_ms) : "–"), numeric: true },
    { title: "Stream", cell: (sensor) => sensor.seen?.stream, class: "place" },
    { title: "First reading", cell: (sensor) => <Reading of={sensor.seen?.first_reading ?? {}} />, class: "wide" },
    {
      title: "Confirm",
      cell: (sensor) => may("registry:write") && <button type="button" onClick={() => setChosen(sensor)} aria-label={`Confirm ${sensor.id}`}>Confirm…</button>,
      class: "row-end",
    },
  ];
  return (
    <Card title="Waiting to be confirmed" id="waiting">
      <p class="quiet">These send readings, and nobody has said yet what they are. Their readings are kept meanwhile.</p>
      <Table label="Sensors that wait to be confirmed" columns={columns} rows={sensors} keyOf={keyOf} />
      {chosen && <ConfirmSensor sensor={chosen} registry={registry} onClose={() => { setChosen(null); onDone(); }} />}
    </Card>
  );
}

function Reading({ of }: { of: Record<string, unknown> }) {
  const shown = Object.entries(of).filter(([name]) => name !== "sensor_id" && name !== "timestamp");
  return <>{shown.map(([name, each]) => `${name} ${typeof each === "number" ? value(each) : String(each)}`).join(", ")}</>;
}

const NAME: Column<Sensor> = {
  title: "Sensor",
  cell: (sensor) => (
    <>
      <a href={to(["sensors", "of", sensor.site, sensor.id])}><strong>{sensor.name ?? sensor.id}</strong></a>{" "}
      {sensor.name && sensor.name !== sensor.id && <span class="quiet">{sensor.id}</span>}
    </>
  ),
  class: "name",
};

function columnsOf(registry: Registry): Column<Sensor>[] {
  const names = new Map(registry.devices.map((device) => [`${device.site}/${device.id}`, device]));
  const deviceOf = (sensor: Sensor) => names.get(`${sensor.site}/${sensor.device_id}`);
  return [
    NAME,
    { title: "Type", cell: (sensor) => sensor.sensor_type_id },
    { title: "Device", cell: (sensor) => deviceOf(sensor)?.name ?? sensor.device_id },
    { title: "Location", cell: (sensor) => deviceOf(sensor)?.location, class: "place" },
    { title: "Site", cell: (sensor) => sensor.site },
    { title: "First reading", cell: (sensor) => (sensor.seen ? agoMs(sensor.seen.first_ms) : "none yet"), numeric: true },
  ];
}

function keyOf(sensor: Sensor): string {
  return `${sensor.site}/${sensor.id}`;
}
