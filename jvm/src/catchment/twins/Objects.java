package catchment.twins;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.ValueState;

/**
 * The objects of one shard: some or all of them in memory, and every one in Spark's state.
 *
 * <p>With `rocksdb` each change is put into the state at once, and only the objects in use are in memory. With
 * `memory` objects stay in memory for as long as the process lives, and those that changed are put into the state
 * just before each checkpoint. Either way the state of a checkpoint is exact, and nothing but it counts after a crash.
 *
 * <p>What is in memory outlives a checkpoint only if the state is the one that was saved from it: both have the
 * same seal.
 */
final class Objects {
    private static final int IN_USE = 2_000;
    private static final Map<String, Sealed> SEALED = new ConcurrentHashMap<>();

    private final MapState<String, byte[]> state;
    private final ValueState<Long> seal;
    private final boolean allInMemory;
    private final String place;
    private final boolean goesOn;
    private final Packed packed = new Packed(512);
    private final Map<String, Twin> held;
    private final Map<String, String> names;
    private final Set<String> changed = new HashSet<>();

    /** What was in memory when the state with this seal was saved. */
    private record Sealed(long seal, Map<String, Twin> held, Map<String, String> names) {}

    Objects(MapState<String, byte[]> state, ValueState<Long> seal, boolean allInMemory, String place) {
        this.state = state;
        this.seal = seal;
        this.allInMemory = allInMemory;
        this.place = place;
        Sealed before = SEALED.remove(place);
        goesOn = allInMemory && before != null && seal.exists() && seal.get() == before.seal;
        held = goesOn ? before.held : allInMemory ? new HashMap<>() : inUse();
        names = goesOn ? before.names : new HashMap<>();
    }

    private static Map<String, Twin> inUse() {
        return new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Twin> eldest) {
                return size() > IN_USE;
            }
        };
    }

    /** Whether all is in memory from before: it has to be sealed again to stay there. */
    boolean goesOn() {
        return goesOn;
    }

    /** An object as it is now; one that nobody has asked for yet is empty. */
    Twin get(String id) {
        Twin twin = held.get(id);
        if (twin == null) {
            byte[] stored = state.getValue(id);
            twin = stored == null ? new Twin() : Twin.read(stored, this::shared);
            held.put(id, twin);
        }
        return twin;
    }

    /** Notes that an object has changed; true if that is to be saved before the checkpoint, and is the first. */
    boolean put(String id, Twin twin) {
        if (!allInMemory) {
            state.updateValue(id, twin.toBytes(packed));
            return false;
        }
        return changed.add(id) && changed.size() == 1;
    }

    /** Puts into the state what is not there yet. */
    void save() {
        changed.forEach(id -> state.updateValue(id, held.get(id).toBytes(packed)));
        changed.clear();
        long next = System.nanoTime() ^ Double.doubleToRawLongBits(Math.random());
        seal.update(next);
        SEALED.put(place, new Sealed(next, held, names));
    }

    private String shared(String name) {
        String before = names.putIfAbsent(name, name);
        return before == null ? name : before;
    }
}
