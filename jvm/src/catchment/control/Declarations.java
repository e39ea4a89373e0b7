package catchment.control;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;

/**
 * What people had declared when a query started: the driver reads the compacted topics whole, and hands
 * this to the operator.
 *
 * <p>The generation is another one at every start of a query. It tells a shard whether what it has in its
 * state already includes this.
 */
public final class Declarations implements Serializable {
    private static final long serialVersionUID = 1L;

    /** The shard of a declaration that concerns all of them. */
    public static final int EVERYWHERE = -1;

    private final long generation;
    private final List<Declaration> declared = new ArrayList<>();
    private final HashMap<String, Long> reached = new HashMap<>();

    public Declarations(long generation) {
        this.generation = generation;
    }

    /** Adds the newest value of a key, for one shard or for {@link #EVERYWHERE}. */
    public void add(String topic, String key, byte[] value, long offset, int shard) {
        declared.add(new Declaration(topic, key, value, offset, shard));
    }

    /** Notes that a partition of a topic has been read up to this offset, which is not included. */
    public void reached(String topic, int partition, long offset) {
        reached.put(topic + "/" + partition, offset);
    }

    long generation() {
        return generation;
    }

    long reached(String topic, int partition) {
        return reached.getOrDefault(topic + "/" + partition, 0L);
    }

    List<Declaration> of(int shard) {
        return declared.stream()
                .filter(each -> each.shard() == EVERYWHERE || each.shard() == shard)
                .toList();
    }

    /** The newest value of a key of a compacted topic. */
    record Declaration(String topic, String key, byte[] value, long offset, int shard) implements Serializable {
        private static final long serialVersionUID = 1L;
    }
}
