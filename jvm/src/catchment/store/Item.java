package catchment.store;

/** A record that a task has handed over: a row, or the reason why it is none. */
public record Item(
        String topic,
        int partition,
        long offset,
        byte[] key,
        byte[] value,
        byte[] stamp,
        Reading reading,
        String reason,
        Pending pending) {

    /** The same record, which no table takes after all. */
    public Item refused(String why) {
        return new Item(topic, partition, offset, key, value, stamp, null, why, pending);
    }
}
