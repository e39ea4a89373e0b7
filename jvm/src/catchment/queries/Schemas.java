package catchment.queries;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The schemas that the driver knows, by their ids. It adds what is registered while queries run. */
public final class Schemas {
    private static final long BETWEEN_LOOKS_MS = 50;
    private static final Map<Integer, Version> KNOWN = new ConcurrentHashMap<>();

    /** A schema, and whose it is. */
    record Version(String subject, String text) {}

    private Schemas() {}

    /** Called from Python, where all tasks run in the same process. */
    public static void learn(int id, String subject, String text) {
        KNOWN.put(id, new Version(subject, text));
    }

    /** The schema with an id; null if there is none after so long. */
    static Version await(int id, long waitMs) {
        long deadline = System.nanoTime() + waitMs * 1_000_000;
        while (!KNOWN.containsKey(id) && System.nanoTime() < deadline) {
            try {
                Thread.sleep(BETWEEN_LOOKS_MS);
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("the query was stopped", stopped);
            }
        }
        return KNOWN.get(id);
    }
}
