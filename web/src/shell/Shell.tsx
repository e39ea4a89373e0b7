import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Scope, Who } from "../api";
import { useLive, type Live } from "../live";
import { to, useRoute } from "../router";
import { SessionContext } from "../session";
import { Talking } from "../ui/Dialog";
import { Mark } from "../ui/Mark";
import { Page } from "../ui/Page";
import { AccountMenu } from "./AccountMenu";
import { GROUPS, type Place } from "./places";

interface Props {
  who: Who;
  onSignOut: (everywhere: boolean) => void;
  onSessionEnd: () => void;
}

/** The frame of every page: navigation, who is signed in, and whether what is shown is live. */
export function Shell({ who, onSignOut, onSessionEnd }: Props) {
  const may = (...scopes: Scope[]) => scopes.every((scope) => (who.scopes as Scope[]).includes(scope));
  const live = useLive(may("status:read", "ledger:read"), onSessionEnd);
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const [menu, setMenu] = useState(false);
  const here = route.path[0] ?? "";
  const shown = GROUPS.map((group) => ({ ...group, places: group.places.filter((place) => !place.path || may(place.scope)) }));
  const place = GROUPS.flatMap((group) => group.places).find((each) => each.path === here);

  const address = route.path.join("/");
  const before = useRef(address);
  // Before the paint: who sees the new page and scrolls at once is not sent back to its top.
  useLayoutEffect(() => {
    if (before.current === address) return;
    before.current = address;
    setMenu(false);
    scrollTo(0, 0);
    main.current?.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
  }, [address]);

  return (
    <SessionContext.Provider value={{ who, live, may }}>
      <a class="skip" href="#main" onClick={(event) => skip(event, main.current)}>Skip to the content</a>
      <header class="top">
        <button type="button" class="menu" aria-expanded={menu} aria-controls="pages" onClick={() => setMenu(!menu)}>
          <svg viewBox="0 0 16 16" aria-hidden="true"><path d="M2 4h12M2 8h12M2 12h12" /></svg>
          <span class="hidden">Menu</span>
        </button>
        <a class="brand" href={to([])}><Mark /> Catchment</a>
        {live.view?.status && <span class="site">{live.view.status.site}</span>}
        {may("status:read", "ledger:read") && <Connection live={live} />}
        <AccountMenu who={who} onSignOut={onSignOut} />
      </header>
      <nav id="pages" class={`pages ${menu ? "open" : ""}`} aria-label="Pages">
        {shown.filter((group) => group.places.length).map((group) => (
          <div key={group.title}>
            <p id={`group-${group.title}`}>{group.title}</p>
            <ul aria-labelledby={`group-${group.title}`}>
              {group.places.map((each) => (
                <li key={each.path}><Entry place={each} isHere={each.path === here} open={badge(each, live)} /></li>
              ))}
            </ul>
          </div>
        ))}
        <div>
          <p id="group-help">Help</p>
          <ul aria-labelledby="group-help">
            <li>
              <a href="/docs/" target="_blank" rel="noopener">
                <svg viewBox="0 0 16 16" aria-hidden="true"><path d="M8 4v10C6.5 12.8 4.5 12.5 2 12.5v-10c2.5 0 4.5.3 6 1.5 1.5-1.2 3.5-1.5 6-1.5v10c-2.5 0-4.5.3-6 1.5" /></svg>
                Manual
              </a>
            </li>
          </ul>
        </div>
      </nav>
      <Talking>
        <main id="main" ref={main} tabIndex={-1}>
          {live.connection === "lost" && (
            <p class="banner" role="alert">Connection lost, retrying. What you see may be out of date.</p>
          )}
          {!place ? (
            <Unknown />
          ) : may(place.scope) ? (
            <place.page key={place.path} route={route} />
          ) : (
            <Page title={place.title} needs={[place.scope]} />
          )}
        </main>
      </Talking>
    </SessionContext.Provider>
  );
}

function Entry({ place, isHere, open }: { place: Place; isHere: boolean; open: number }) {
  return (
    <a href={to(place.path ? [place.path] : [])} aria-current={isHere ? "page" : undefined}>
      <svg viewBox="0 0 16 16" aria-hidden="true"><path d={place.icon} /></svg>
      {place.title}
      {open > 0 && <span class="count" title={`${open} open`}>{open}</span>}
    </a>
  );
}

function badge(place: Place, live: Live): number {
  return place.path === "alerts" ? (live.view?.alerts?.unacknowledged ?? 0) : 0;
}

const CONNECTIONS = { connecting: "Connecting", live: "Live", lost: "Retrying" };

function Connection({ live }: { live: Live }) {
  return <span class={`connection ${live.connection}`} role="status">{CONNECTIONS[live.connection]}</span>;
}

function Unknown() {
  return (
    <Page title="There is no such page">
      <section class="card empty">
        <p>The address names a page that this console does not have.</p>
        <p><a href={to([])}>Go to the overview</a></p>
      </section>
    </Page>
  );
}

function skip(event: Event, main: HTMLElement | null): void {
  event.preventDefault();
  main?.focus();
}
