import { useState } from "preact/hooks";
import { API, get, list, remove, sentenceOf } from "../api";
import { agoMs } from "../format";
import { useLoad } from "../load";
import { go, to } from "../router";
import { useSession } from "../session";
import type { Alert, Sensor } from "../types";
import { useTalk } from "../ui/Dialog";
import { Badge, Card, Facts, Page, Show } from "../ui/Page";
import { AlertLine } from "./AlertLine";
import { ReadingsCard } from "./ReadingsCard";
import { ConfirmSensor, SensorForm } from "./SensorForm";
import { loadRegistry } from "./Sensors";

/** One sensor: its readings, stored and live in one picture, and what is known of it. */
export function SensorDetail({ site, id }: { site: string; id: string }) {
  const { may, live } = useSession();
  const { ask, say } = useTalk();
  const [editing, setEditing] = useState(false);
  const path = `${API}/sensors/${encodeURIComponent(id)}`;
  const sensor = useLoad(`${site}/${id}`, (signal) => get<Sensor>(path, { site }, signal));
  const registry = useLoad("registry", loadRegistry);
  const alerts = useLoad(
    may("alerts:read") ? `alerts ${site}/${id}` : null,
    (signal) => list<Alert>(`${API}/alerts`, { site, sensor: id }, signal),
    0,
    live.view?.alerts?.changed,
  );
  const known = sensor.data;
  const type = registry.data?.types.find((each) => each.id === known?.sensor_type_id && each.site === site);
  const isOwn = !live.view?.status || live.view.status.site === site;

  const drop = async () => {
    const text = "Its readings stay, and if it sends again it waits to be confirmed.";
    if (!(await ask({ title: `Delete ${id}?`, text, action: "Delete", destructive: true }))) return;
    await remove(path, { version: known?.version }).then(() => go(to(["sensors"])), (error) => say(sentenceOf(error)));
  };
  const close = () => {
    setEditing(false);
    sensor.reload();
  };
  return (
    <Page
      title={known?.name ?? id}
      needs={["registry:read"]}
      back={{ href: to(["sensors"]), title: "Sensors and devices" }}
      actions={
        known && may("registry:write") && isOwn && (
          <>
            <button type="button" class={known.registered ? "" : "primary"} onClick={() => setEditing(true)}>{known.registered ? "Change" : "Confirm…"}</button>
            {known.registered && <button type="button" onClick={drop}>Delete</button>}
          </>
        )
      }
    >
      {may("data:read") && <ReadingsCard sensor={`${site}/${id}`} unit={type?.unit ?? ""} />}
      <div class="halves">
        <Card title="About" id="about">
          <Show of={sensor}>
            {(thing) => (
              <Facts
                of={[
                  ["Id", <code>{thing.id}</code>],
                  ["Site", thing.site],
                  ["State", thing.registered ? <Badge tone="good">registered</Badge> : <Badge tone="fair">waits to be confirmed</Badge>],
                  ["Device", thing.device_id ?? "–"],
                  ["Type", thing.sensor_type_id ?? "–"],
                  ["Schema", thing.seen?.subject ?? type?.subject ?? "–"],
                  ["Stream", thing.seen?.stream ?? "–"],
                  ["First reading", thing.seen ? agoMs(thing.seen.first_ms) : "none yet"],
                  ["Description", thing.description || "–"],
                ]}
              />
            )}
          </Show>
        </Card>
        {may("alerts:read") && (
          <Card title="Alerts" id="alerts" aside={may("rules:read") && <a href={to(["rules"])}>Rules</a>}>
            <Show of={alerts}>
              {(items) => (items.length ? <ul class="lines">{items.slice(0, 10).map((each) => <AlertLine key={each.id} alert={each} />)}</ul> : <p class="empty">There were none.</p>)}
            </Show>
          </Card>
        )}
      </div>
      {editing && known && registry.data && (known.registered ? (
        <SensorForm registry={registry.data} sensor={known} onClose={close} />
      ) : (
        <ConfirmSensor registry={registry.data} sensor={known} onClose={close} />
      ))}
    </Page>
  );
}
