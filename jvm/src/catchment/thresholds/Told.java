package catchment.thresholds;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Events that were written after the last checkpoint of a query that starts again. Its state does not know of
 * them: where nothing was declared in between they come out as they were, else see {@link Watch#adopt}.
 */
public final class Told implements Serializable {
    private static final long serialVersionUID = 1L;

    private final String node;
    private final List<Entry> entries = new ArrayList<>();

    /** Of the rules of one node; a centre's topic has events of its sites' rules as well. */
    public Told(String node) {
        this.node = node;
    }

    /** Adds a message of the events' topic; called from Python. */
    public void add(int shard, String sensorKey, byte[] value) {
        entries.add(new Entry(shard, sensorKey, value));
    }

    /** The events of a shard's sensors, in the order in which they were written. */
    Map<String, List<Event>> of(int shard, EventFormat format) {
        Map<String, List<Event>> bySensor = new HashMap<>();
        for (Entry entry : entries) {
            if (entry.shard() == shard) {
                format.read(entry.value())
                        .filter(event -> event.rule().node().equals(node))
                        .ifPresent(event -> bySensor.computeIfAbsent(entry.sensorKey(), key -> new ArrayList<>())
                                .add(event));
            }
        }
        return bySensor;
    }

    private record Entry(int shard, String sensorKey, byte[] value) implements Serializable {
        private static final long serialVersionUID = 1L;
    }
}
