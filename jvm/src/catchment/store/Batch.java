package catchment.store;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Rows of one shape, of which a statement may meet each key only once: the newest stays. */
public final class Batch {
    private final Map<List<String>, Reading> newest = new LinkedHashMap<>();
    private final List<StampKey> superseded = new ArrayList<>();
    private final List<StampKey> repeated = new ArrayList<>();

    public Batch(Collection<Reading> readings) {
        readings.forEach(this::add);
    }

    private void add(Reading reading) {
        Reading held = newest.putIfAbsent(reading.key(), reading);
        if (held == null || reading.stamp() == null) {
            return;
        }
        int order = reading.stamp().compareTo(held.stamp());
        if (order == 0) {
            repeated.add(reading.stamp());
        } else if (order < 0) {
            superseded.add(reading.stamp());
        } else {
            superseded.add(held.stamp());
            newest.put(reading.key(), reading);
        }
    }

    /** The newest row of every key, in the order in which the keys first came. */
    public List<Reading> newest() {
        return List.copyOf(newest.values());
    }

    /** The stamps of those that gave way to a newer one. */
    public List<StampKey> superseded() {
        return superseded;
    }

    /** The stamps that came more than once. */
    public List<StampKey> repeated() {
        return repeated;
    }
}
