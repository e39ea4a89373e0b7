// What a page asks the API for, again and again while somebody looks.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

export interface Loaded<T> {
  data: T | undefined;
  error: unknown;
  reload: () => void;
}

type Load<T> = (signal: AbortSignal) => Promise<T>;

/**
 * Loads when `key` changes, every so often if wished (never while the page is hidden), and on demand. When
 * `stamp` changes it loads anew as well, and shows what it had until then.
 */
export function useLoad<T>(key: string | null, load: Load<T>, everyMs = 0, stamp: unknown = 0): Loaded<T> {
  const [state, setState] = useState<{ key: string | null; data?: T; error?: unknown }>({ key: null });
  const [turn, setTurn] = useState(0);
  const latest = useRef(load);
  latest.current = load;

  useEffect(() => {
    if (key === null) return;
    const stop = new AbortController();
    let timer: number | undefined;
    const once = async () => {
      if (!document.hidden || !everyMs) {
        const change = await latest.current(stop.signal).then(
          (data) => ({ data, error: undefined }),
          (error: unknown) => ({ error }),
        );
        if (stop.signal.aborted) return;
        setState((before) => ({ ...(before.key === key ? before : {}), ...change, key }));
      }
      if (everyMs) timer = window.setTimeout(once, everyMs);
    };
    void once();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [key, everyMs, stamp, turn]);

  const reload = useCallback(() => setTurn((before) => before + 1), []);
  const isCurrent = state.key === key;
  return { data: isCurrent ? state.data : undefined, error: isCurrent ? state.error : undefined, reload };
}
