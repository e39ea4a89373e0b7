// Which page is shown stands behind the # of the address: `#/sensors/oslo/oven-1?since=1h`.
import { useLayoutEffect, useState } from "preact/hooks";

export interface Route {
  path: string[];
  query: URLSearchParams;
}

export function routeOf(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { path: path.split("/").filter(Boolean).map(decode), query: new URLSearchParams(query) };
}

/** The address of a page, of the parts of its path. */
export function to(path: (string | number)[], query: Record<string, string | undefined | null> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const text = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

export function go(address: string): void {
  location.hash = address;
}

/** Changes the address without a new entry in the history: for filters and searches. */
export function replace(address: string): void {
  history.replaceState(null, "", address);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => routeOf(location.hash));
  // At once, not after the paint: a page that is called in between would never be shown.
  useLayoutEffect(() => {
    const changed = () => setRoute(routeOf(location.hash));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
