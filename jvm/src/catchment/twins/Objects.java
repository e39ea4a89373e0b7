package catchment.twins;

import catchment.control.Packed;
import catchment.control.Seals;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.ValueState;

/**
 * The objects of one shard: some or all of them in memory, and every one in Spark's state.
 *
 * <p>Objects that changed are put into the state just before each checkpoint, and with `rocksdb` also when they
 * have to make room in memory for others. So the state of a checkpoint is exact, and nothing but it counts after a
 * crash. What is in memory stays there for as long as the process lives.
 */
final class Objects {
    private static final int IN_USE = 2_000;

    private final MapState<String, byte[]> state;
    private final ValueState<Long> seal;
    private final int room;
    private final String place;
    private final boolean goesOn;
    private final Packed packed = new Packed(512);
    private final Map<String, Twin> held;
    private final Map<String, String> names;
    private final Set<String> changed = new HashSet<>();

    /** What is in memory: the objects, those first that were not used for longest, and names that many of them share. */
    private record Held(Map<String, Twin> objects, Map<String, String> names) {}

    Objects(MapState<String, byte[]> state, ValueState<Long> seal, boolean allInMemory, String place) {
        this.state = state;
        this.seal = seal;
        this.room = allInMemory ? Integer.MAX_VALUE : IN_USE;
        this.place = place;
        Held before = (Held) Seals.take(place, seal);
        goesOn = before != null;
        held = goesOn ? before.objects : new LinkedHashMap<>(16, 0.75f, true);
        names = goesOn ? before.names : new HashMap<>();
    }

    /** Whether something is in memory from before: it has to be sealed again to stay there. */
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
            if (held.size() > room) {
                makeRoom();
            }
        }
        return twin;
    }

    private void makeRoom() {
        Iterator<Map.Entry<String, Twin>> objects = held.entrySet().iterator();
        Map.Entry<String, Twin> eldest = objects.next();
        if (changed.remove(eldest.getKey())) {
            store(eldest.getKey(), eldest.getValue());
        }
        objects.remove();
    }

    /** Notes that an object has changed: it is to be saved before the checkpoint. */
    void put(String id) {
        changed.add(id);
    }

    /** Puts into the state what is not there yet. */
    void save() {
        changed.forEach(id -> store(id, held.get(id)));
        changed.clear();
        Seals.put(place, seal, new Held(held, names));
    }

    private void store(String id, Twin twin) {
        state.updateValue(id, twin.toBytes(packed));
    }

    private String shared(String name) {
        if (names.size() >= room) {
            names.clear();
        }
        String before = names.putIfAbsent(name, name);
        return before == null ? name : before;
    }
}
