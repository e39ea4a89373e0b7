// Server-Sent Events of one thing, such as the readings of a sensor.
import { useEffect, useRef } from "preact/hooks";

const FLUSH_MS = 250;

/**
 * Gives the events in batches, at most four times a second: drawing never falls behind what comes.
 * Nothing is open while the page is hidden; the server then tells again what there is.
 */
export function useEvents(url: string | null, names: string[], onBatch: (batch: { name: string; data: unknown }[]) => void): void {
  const latest = useRef(onBatch);
  latest.current = onBatch;
  useEffect(() => {
    if (!url) return;
    let source: EventSource | null = null;
    let batch: { name: string; data: unknown }[] = [];
    const timer = setInterval(() => {
      if (!batch.length) return;
      latest.current(batch);
      batch = [];
    }, FLUSH_MS);
    const open = () => {
      source?.close();
      source = null;
      if (document.hidden) return;
      source = new EventSource(url);
      for (const name of names) {
        source.addEventListener(name, (event) => batch.push({ name, data: JSON.parse((event as MessageEvent).data) }));
      }
    };
    open();
    document.addEventListener("visibilitychange", open);
    return () => {
      document.removeEventListener("visibilitychange", open);
      clearInterval(timer);
      source?.close();
    };
  }, [url]);
}
