package catchment.control;

import java.util.function.BiConsumer;

/** What a shard holds in memory, and how that goes into Spark's state, entry by entry. */
public interface Memory {
    /** Takes an entry over from the state; called for each before anything else. */
    void restore(byte[] key, byte[] value);

    /** Gives away all entries that changed since the last time; a value of null removes one. */
    void save(BiConsumer<byte[], byte[]> entries);
}
