import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { sentenceOf, type Scope } from "../api";
import type { Loaded } from "../load";
import { useSession } from "../session";
import { Text } from "./Text";

interface PageProps {
  title: string;
  /** One sentence that says what the page is for. */
  about?: ComponentChildren;
  /** Where a page of one thing leads back to. */
  back?: { href: string; title: string };
  actions?: ComponentChildren;
  /** What a caller needs to see anything here. */
  needs?: Scope[];
  children?: ComponentChildren;
}

/** What every page has: its title, its actions, and a word to those who may not see it. */
export function Page({ title, about, back, actions, needs = [], children }: PageProps) {
  const { may, who, live } = useSession();
  const site = live.view?.status?.site;
  useEffect(() => {
    document.title = [title, site, "Catchment"].filter(Boolean).join(" · ");
  }, [title, site]);
  const lacking = needs.filter((scope) => !may(scope));
  return (
    <>
      <div class="page-head">
        <div>
          {back && <a class="back" href={back.href}>{back.title}</a>}
          <h1 tabIndex={-1}>{title}</h1>
          {about && <p class="quiet">{about}</p>}
        </div>
        {!lacking.length && actions && <div class="actions">{actions}</div>}
      </div>
      {lacking.length ? <Lacking name={who.name} lacking={lacking} /> : children}
    </>
  );
}

function Lacking({ name, lacking }: { name: string; lacking: Scope[] }) {
  return (
    <section class="card empty">
      <h2>{name} may not see this page</h2>
      <p>It lacks {lacking.join(" and ")}. Ask an administrator, or sign in with a token made with</p>
      <code>catchment token create NAME {lacking.map((scope) => `--scope ${scope}`).join(" ")}</code>
    </section>
  );
}

interface CardProps {
  title?: ComponentChildren;
  id?: string;
  aside?: ComponentChildren;
  class?: string;
  children: ComponentChildren;
}

export function Card({ title, id, aside, class: kind = "", children }: CardProps) {
  return (
    <section class={`card ${kind}`} aria-labelledby={title && id ? id : undefined}>
      {(title || aside) && (
        <div class="heading">
          {title && <h2 id={id}>{title}</h2>}
          {aside && <div class="aside">{aside}</div>}
        </div>
      )}
      {children}
    </section>
  );
}

/** Where nothing is yet: what it would be, and what to do first. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h3>{title}</h3>
      {children}
    </div>
  );
}

/** Shows what was loaded, that it is on its way, or why it did not come. */
export function Show<T>({ of, children }: { of: Loaded<T>; children: (data: T) => ComponentChildren }) {
  return (
    <>
      {of.error !== undefined && <Wrong error={of.error} onRetry={of.reload} />}
      {of.data !== undefined ? children(of.data) : of.error === undefined && <p class="loading quiet" aria-busy="true">Loading…</p>}
    </>
  );
}

export function Wrong({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <div class="refusal" role="alert">
      <span><Text>{sentenceOf(error)}</Text></span>
      {onRetry && <button type="button" onClick={onRetry}>Try again</button>}
    </div>
  );
}

export function Badge({ tone = "idle", children }: { tone?: string; children: ComponentChildren }) {
  return <span class={`state ${tone}`}>{children}</span>;
}

/** Names and values of one thing. */
export function Facts({ of }: { of: [name: string, value: ComponentChildren][] }) {
  return (
    <dl class="facts">
      {of.map(([name, shown]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{shown}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Pages that belong together. */
export function Tabs({ label, tabs, now }: { label: string; tabs: { title: string; href: string; count?: number }[]; now: string }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <a key={tab.href} href={tab.href} aria-current={tab.href === now ? "page" : undefined}>
          {tab.title}
          {tab.count ? <span class="count">{tab.count}</span> : null}
        </a>
      ))}
    </nav>
  );
}

export function Search({ label, value, onChange }: { label: string; value: string; onChange: (value: string) => void }) {
  return (
    <input
      type="search"
      placeholder={label}
      aria-label={label}
      value={value}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}
