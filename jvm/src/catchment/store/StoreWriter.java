package catchment.store;

import catchment.control.KafkaRows;
import org.apache.spark.sql.ForeachWriter;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * The end of a query: every row goes to a store. Opened and closed once a partition and checkpoint interval;
 * to close waits until all is committed, so that a checkpoint never claims more than PostgreSQL has.
 *
 * <p>Input: topic string, partition integer, offset long, key binary, value binary, stamp binary.
 */
public final class StoreWriter extends ForeachWriter<InternalRow> {
    private static final long serialVersionUID = 1L;

    private final String settingsJson;
    private transient StoreSettings settings;
    private transient Store store;
    private transient Decoder decoder;
    private transient Pending pending;

    public StoreWriter(String settingsJson) {
        this.settingsJson = settingsJson;
    }

    @Override
    public boolean open(long partitionId, long epochId) {
        settings = StoreSettings.fromJson(settingsJson);
        store = Stores.of(settings);
        decoder = new Decoder(store.schemas());
        pending = new Pending();
        return true;
    }

    @Override
    public void process(InternalRow row) {
        String topic = row.getUTF8String(0).toString();
        byte[] key = KafkaRows.bytes(row, 3);
        byte[] value = KafkaRows.bytes(row, 4);
        byte[] stamp = KafkaRows.bytes(row, 5);
        Reading reading = null;
        String reason = null;
        try {
            try {
                reading = decoder.decode(settings.kinds().get(topic), key, value, stamp);
            } catch (Unstorable error) {
                reason = error.getMessage();
            }
            store.put(new Item(topic, row.getInt(1), row.getLong(2), key, value, stamp, reading, reason, pending));
        } catch (InterruptedException error) {
            throw interrupted();
        }
    }

    @Override
    public void close(Throwable error) {
        if (error != null || pending == null) {
            return;
        }
        try {
            pending.await();
        } catch (InterruptedException interruption) {
            throw interrupted();
        }
    }

    private static IllegalStateException interrupted() {
        Thread.currentThread().interrupt();
        return new IllegalStateException("stopped while records waited for PostgreSQL");
    }
}
