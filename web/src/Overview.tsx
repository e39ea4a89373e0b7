import { useEffect } from "preact/hooks";
import type { Who } from "./api";
import { Components } from "./Components";
import { Ledger } from "./Ledger";
import { useLive, type Connection, type View } from "./live";
import { Mark } from "./Mark";
import { RateCard } from "./RateCard";
import { Streams } from "./Streams";
import { Verdict } from "./Verdict";

const NEEDED = ["status:read", "ledger:read"] as const;

interface Props {
  who: Who;
  onSignOut: () => void;
  onSessionEnd: () => void;
}

export function Overview(props: Props) {
  const lacking = NEEDED.filter((scope) => !props.who.scopes.includes(scope));
  return lacking.length ? <Lacking {...props} lacking={lacking} /> : <LiveOverview {...props} />;
}

function Lacking({ who, onSignOut, lacking }: Props & { lacking: string[] }) {
  return (
    <>
      <Header who={who} onSignOut={onSignOut} />
      <main>
        <section class="card empty">
          <h2>This token may not see the overview</h2>
          <p>It lacks {lacking.join(" and ")}. Sign in with another one, made with</p>
          <code>catchment token create NAME {NEEDED.map((scope) => `--scope ${scope}`).join(" ")}</code>
        </section>
      </main>
    </>
  );
}

function LiveOverview({ who, onSignOut, onSessionEnd }: Props) {
  const { connection, view } = useLive(onSessionEnd);
  useEffect(() => {
    document.title = titleOf(view);
  }, [view?.status]);

  return (
    <>
      <Header who={who} onSignOut={onSignOut} view={view} connection={connection} />
      {connection === "lost" && (
        <p class="banner" role="alert">Connection lost, retrying. What you see may be out of date.</p>
      )}
      <main aria-busy={view === null}>{view && <Content view={view} />}</main>
    </>
  );
}

function Content({ view }: { view: View }) {
  return (
    <>
      <Verdict status={view.status} />
      <div class="figures">
        <RateCard rate={view.totals.rate_per_s} history={view.history} nowMs={view.at_ms} />
        <Ledger totals={view.totals} current={view.ledger_current} />
      </div>
      <Components status={view.status} sinceMs={Date.now() - view.statusAtMs} />
      <Streams streams={view.streams} nowMs={view.at_ms} />
    </>
  );
}

interface HeaderProps {
  who: Who;
  onSignOut: () => void;
  view?: View | null;
  connection?: Connection;
}

const CONNECTIONS: Record<Connection, string> = { connecting: "Connecting", live: "Live", lost: "Retrying" };

function Header({ who, onSignOut, view, connection }: HeaderProps) {
  return (
    <header>
      <div class="bar">
        <h1>
          <Mark /> Catchment
        </h1>
        {view?.status && <span class="site">{view.status.site}</span>}
        {connection && (
          <span class={`connection ${connection}`} role="status">
            {CONNECTIONS[connection]}
          </span>
        )}
        <span class="who">{who.name}</span>
        <button type="button" onClick={onSignOut}>
          Sign out
        </button>
      </div>
    </header>
  );
}

function titleOf(view: View | null): string {
  if (!view?.status) return "Catchment";
  return `${view.status.ready ? "Ready" : "Not ready"} · ${view.status.site} · Catchment`;
}
