// Calls to the API. Every error is a Problem with a sentence for people.
import type { components } from "./api-types";

type Schemas = components["schemas"];
export type Component = Schemas["Component"];
export type Delta = Schemas["Delta"];
export type HopTotal = Schemas["HopTotal"];
export type NodeStatus = Schemas["NodeStatus"];
export type Problem = Schemas["Problem"];
export type RatePoint = Schemas["RatePoint"];
export type Snapshot = Schemas["Snapshot"];
export type State = Schemas["State"];
export type StreamState = Schemas["StreamState"];
export type Totals = Schemas["Totals"];
export type Who = Schemas["Who"];

const SESSION = "/api/v1/session";

export class Refusal extends Error {
  constructor(readonly problem: Problem) {
    super([problem.detail, problem.remedy].filter(Boolean).join(". "));
  }
}

export async function whoAmI(): Promise<Who | null> {
  const response = await fetch(SESSION);
  if (response.status === 204) return null;
  return read<Who>(response);
}

export async function signIn(token: string): Promise<Who> {
  const body = JSON.stringify({ token });
  return read<Who>(await fetch(SESSION, { method: "POST", headers: { "Content-Type": "application/json" }, body }));
}

export async function signOut(): Promise<void> {
  const response = await fetch(SESSION, { method: "DELETE" });
  if (!response.ok && response.status !== 401) throw new Refusal(await response.json());
}

async function read<T>(response: Response): Promise<T> {
  if (!response.ok) throw new Refusal(await response.json());
  return response.json();
}
