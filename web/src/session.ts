// Who is signed in and what they may do, for every page.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Scope, Who } from "./api";
import type { Live } from "./live";

export interface Session {
  who: Who;
  live: Live;
  may: (...scopes: Scope[]) => boolean;
}

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  return useContext(SessionContext)!;
}
