import { useState } from "preact/hooks";
import { API, list, put, remove, sentenceOf } from "../api";
import { quantity } from "../format";
import { useLoad } from "../load";
import { to, type Route } from "../router";
import { useSession } from "../session";
import type { Rule } from "../types";
import { useTalk } from "../ui/Dialog";
import { Badge, Card, Empty, Page, Show } from "../ui/Page";
import { Table, type Column } from "../ui/Table";
import { RuleForm } from "./RuleForm";

/** Thresholds that measurements are watched with. */
export function Rules({ route }: { route: Route }) {
  const { may } = useSession();
  const { ask, say } = useTalk();
  const [editing, setEditing] = useState<Rule | "new" | null>(route.query.has("new") ? "new" : null);
  const rules = useLoad("rules", (signal) => list<Rule>(`${API}/rules`, {}, signal), 5_000);

  const path = (rule: Rule) => `${API}/rules/${encodeURIComponent(rule.id)}`;
  const settle = (act: Promise<unknown>, done: string) =>
    act.then(() => say(done), (error) => say(sentenceOf(error))).then(rules.reload);
  const toggle = async (rule: Rule) => {
    const { id: _, site: __, version, updated_ms: ___, ...spec } = rule;
    await settle(put(path(rule), { ...spec, enabled: !rule.enabled }, { version }), `${rule.id} is ${rule.enabled ? "off" : "on"}.`);
  };
  const drop = async (rule: Rule) => {
    const text = "An alert of it that is open ends. Past alerts stay.";
    if (!(await ask({ title: `Remove the rule ${rule.id}?`, text, action: "Remove", destructive: true }))) return;
    await settle(remove(path(rule), { version: rule.version }), `${rule.id} is removed.`);
  };
  const columns: Column<Rule>[] = [
    { title: "Rule", cell: (rule) => <><strong>{rule.id}</strong>{rule.description && <p class="quiet">{rule.description}</p>}</>, class: "name" },
    { title: "State", cell: (rule) => (rule.enabled === false ? <Badge>off</Badge> : <Badge tone="good">on</Badge>), class: "badge" },
    { title: "Raises when", cell: condition },
    { title: "Of", cell: selection, class: "place" },
    {
      title: "Actions",
      cell: (rule) => (
        <span class="row-actions">
          {may("alerts:read") && <a class="button" href={to(["alerts"], { rule: rule.id })} aria-label={`Alerts of ${rule.id}`}>Alerts</a>}
          {may("rules:write") && (
            <>
              <button type="button" onClick={() => setEditing(rule)} aria-label={`Change ${rule.id}`}>Change</button>
              <button type="button" onClick={() => toggle(rule)} aria-label={`Switch ${rule.enabled === false ? "on" : "off"} ${rule.id}`}>
                {rule.enabled === false ? "Switch on" : "Switch off"}
              </button>
              <button type="button" onClick={() => drop(rule)} aria-label={`Remove ${rule.id}`}>Remove</button>
            </>
          )}
        </span>
      ),
      class: "row-end",
    },
  ];
  return (
    <Page
      title="Rules"
      needs={["rules:read"]}
      about="A rule raises an alert while readings are beyond a threshold."
      actions={may("rules:write") && <button type="button" class="primary" onClick={() => setEditing("new")}>New rule</button>}
    >
      <Card>
        <Show of={rules}>
          {(items) =>
            items.length ? (
              <Table label="Rules" columns={columns} rows={items} keyOf={(rule) => `${rule.site}/${rule.id}`} />
            ) : (
              <Empty title="Nothing is watched yet">
                <p>A rule names a field of the measurements and a threshold: when a reading is beyond it, whom it concerns is told.</p>
              </Empty>
            )
          }
        </Show>
      </Card>
      {editing && <RuleForm rule={editing === "new" ? null : editing} onClose={() => { setEditing(null); rules.reload(); }} />}
    </Page>
  );
}

function condition(rule: Rule): string {
  const [word, limit] = rule.above != null ? ["above", rule.above] : ["below", rule.below];
  const back = rule.hysteresis ? `, until ${quantity(rule.above != null ? limit! - rule.hysteresis : limit! + rule.hysteresis, rule.unit ?? "")}` : "";
  const lasting = rule.min_duration_s ? ` for ${rule.min_duration_s} s` : "";
  return `${rule.field} ${word} ${quantity(limit, rule.unit ?? "")}${lasting}${back}`;
}

function selection(rule: Rule): string {
  const given = Object.entries(rule.select ?? {}).filter(([, pattern]) => pattern);
  return given.map(([name, pattern]) => `${name.replace("_", " ")} ${pattern}`).join(", ") || "all sensors";
}
