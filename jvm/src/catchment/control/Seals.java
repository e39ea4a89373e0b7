package catchment.control;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.streaming.ValueState;

/**
 * What shards hold in memory between two checkpoint intervals.
 *
 * <p>It outlives a checkpoint only if the state is the one that was saved from it: both have the same seal.
 */
public final class Seals {
    private static final Map<String, Sealed> SEALED = new ConcurrentHashMap<>();

    private record Sealed(long seal, Object held) {}

    private Seals() {}

    /** What was held at this place when the state was saved; null if that is not known any more. */
    public static Object take(String place, ValueState<Long> seal) {
        Sealed before = SEALED.remove(place);
        return before != null && seal.exists() && seal.get() == before.seal ? before.held : null;
    }

    /** Keeps what is held, now that all of it is in the state. */
    public static void put(String place, ValueState<Long> seal, Object held) {
        long next = System.nanoTime() ^ Double.doubleToRawLongBits(Math.random());
        seal.update(next);
        SEALED.put(place, new Sealed(next, held));
    }

    /** Lets go of all that is held at places that begin so: their query has been stopped. */
    public static void forget(String beginning) {
        SEALED.keySet().removeIf(place -> place.startsWith(beginning));
    }
}
