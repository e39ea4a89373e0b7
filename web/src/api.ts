// Calls to the API. Every error is a Problem with a sentence for people.
import type { components } from "./api-types";

export type Schemas = components["schemas"];
export type Problem = Schemas["Problem"];
export type Who = Schemas["Who"];
export type Scope = Schemas["Scope"];

export const API = "/api/v1";
const SESSION = `${API}/session`;
const MOST_ITEMS = 5_000;
const PAGE_ITEMS = 1_000;

type Params = Record<string, string | number | boolean | null | undefined>;

export interface Page<T> {
  items: T[];
  next: string | null;
}

/** What the API refused, in its own words. */
export class Refusal extends Error {
  constructor(readonly problem: Problem) {
    super([problem.detail, problem.remedy].filter(Boolean).join(". "));
  }
}

let sessionEnded = () => {};

/** Says what happens when the API no longer knows the session. */
export function whenSessionEnds(act: () => void): void {
  sessionEnded = act;
}

/** An address with its parameters, without those that are empty. */
export function address(path: string, params: Params = {}): string {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return query ? `${path}?${query}` : path;
}

export function get<T>(path: string, params?: Params, signal?: AbortSignal): Promise<T> {
  return call<T>("GET", address(path, params), { signal });
}

/** Every item of a list that comes in pages, as far as a person could ever look at them. */
export async function list<T>(path: string, params: Params = {}, signal?: AbortSignal): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | null | undefined;
  do {
    const page: Page<T> = await get(path, { limit: PAGE_ITEMS, ...params, cursor }, signal);
    items.push(...page.items);
    cursor = page.next;
  } while (cursor && items.length < MOST_ITEMS);
  return items;
}

interface Sending {
  /** Change only this version; 0: only if there is none. */
  version?: number | null;
  headers?: Record<string, string>;
}

export function put<T>(path: string, body: unknown, sending: Sending = {}): Promise<T> {
  return call<T>("PUT", path, { body: JSON.stringify(body), headers: headersOf(sending) });
}

export function post<T>(path: string, body: unknown = {}, sending: Sending = {}): Promise<T> {
  return call<T>("POST", path, { body: JSON.stringify(body), headers: headersOf(sending) });
}

export function patch<T>(path: string, body: unknown, sending: Sending = {}): Promise<T> {
  const headers = { "Content-Type": "application/merge-patch+json", ...headersOf(sending) };
  return call<T>("PATCH", path, { body: JSON.stringify(body), headers });
}

export function remove<T = void>(path: string, sending: Sending = {}): Promise<T> {
  return call<T>("DELETE", path, { headers: headersOf(sending) });
}

function headersOf({ version, headers = {} }: Sending): Record<string, string> {
  if (version === 0) return { "If-None-Match": "*", ...headers };
  return version ? { "If-Match": `"${version}"`, ...headers } : headers;
}

async function call<T>(method: string, path: string, init: RequestInit): Promise<T> {
  const headers = new Headers(init.headers);
  if (init.body && !headers.has("Content-Type")) headers.set("Content-Type", "application/json");
  const response = await fetch(path, { ...init, method, headers });
  if (response.status === 401 && path.startsWith(API) && !path.startsWith(SESSION)) sessionEnded();
  if (!response.ok) throw new Refusal(await problemOf(response));
  return response.status === 204 ? (undefined as T) : response.json();
}

/** The problem that an answer tells of; something between us and the node may have answered in another way. */
export async function problemOf(response: Response): Promise<Problem> {
  const told = await response.json().catch(() => null);
  if (told?.detail) return told;
  const detail = told?.message ?? `The service answered ${response.status} ${response.statusText}`;
  return { type: "about:blank", title: response.statusText, status: response.status, detail, code: "failed" };
}

export async function whoAmI(): Promise<Who | null> {
  return (await call<Who | undefined>("GET", SESSION, {})) ?? null;
}

export type Secret = { token: string } | { name: string; password: string };

export function signIn(secret: Secret): Promise<Who> {
  return post<Who>(SESSION, secret);
}

export function changePassword(current: string, next: string): Promise<Who> {
  return put<Who>(`${SESSION}/password`, { current, new: next });
}

export async function signOut(everywhere: boolean): Promise<void> {
  await remove(address(SESSION, { everywhere: everywhere || null })).catch((error) => {
    if (!(error instanceof Refusal && error.problem.status === 401)) throw error;
  });
}

/** What went wrong, in a sentence, whatever it was. */
export function sentenceOf(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  if (error instanceof TypeError) return "The service does not answer. Try again in a moment.";
  return error instanceof Error ? error.message : String(error);
}
