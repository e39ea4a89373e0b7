package catchment.pipeline;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * The end of a query at Kafka, where the newest row of each key of one topic is enough.
 *
 * <p>Such a row is written at once if none of its key was just before. Else it waits for a few milliseconds, and
 * a newer one takes its place; the headers stay those of the first that waits, as they say since when it is under
 * way. Rows of other topics are written as they come.
 */
public final class NewestToKafka extends ToKafka {
    private static final long serialVersionUID = 1L;
    private static final long PAUSE_NS = 5_000_000;

    /** One thread for all partitions: the producer does the work. */
    private static final ScheduledExecutorService CLOCK = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread thread = new Thread(work, "newest-to-kafka");
        thread.setDaemon(true);
        return thread;
    });

    private final String newestOf;
    private transient Map<ByteBuffer, Slot> slots;
    private transient List<Slot> waiting;
    private transient volatile RuntimeException failure;

    /** When a key was written last, and what waits to be. */
    private static final class Slot {
        private final byte[] key;
        private long writtenNs;
        private RecordHeaders oldestHeaders;
        private byte[] newest;

        private Slot(byte[] key) {
            this.key = key;
        }
    }

    /** Called from Python, with the settings of a producer. */
    public NewestToKafka(Map<String, String> producer, String newestOf) {
        super(producer);
        this.newestOf = newestOf;
    }

    @Override
    public boolean open(long partitionId, long epochId) {
        slots = new HashMap<>();
        waiting = new ArrayList<>();
        failure = null;
        return super.open(partitionId, epochId);
    }

    @Override
    protected synchronized void take(String topic, byte[] key, byte[] value, InternalRow row) {
        if (failure != null) {
            throw failure;
        }
        if (!newestOf.equals(topic)) {
            super.take(topic, key, value, row);
            return;
        }
        Slot slot = slots.computeIfAbsent(ByteBuffer.wrap(key), each -> new Slot(key));
        long nowNs = System.nanoTime();
        if (slot.newest != null) {
            slot.newest = value;
        } else if (nowNs - slot.writtenNs >= PAUSE_NS) {
            slot.writtenNs = nowNs;
            super.take(topic, key, value, row);
        } else {
            slot.oldestHeaders = headersOf(row);
            slot.newest = value;
            waits(slot, nowNs);
        }
    }

    @Override
    public synchronized void close(Throwable error) {
        super.close(error);
        if (waiting != null) {
            waiting.clear();
        }
    }

    @Override
    protected void beforeEnd() {
        writeWaiting(System.nanoTime());
    }

    private void waits(Slot slot, long nowNs) {
        waiting.add(slot);
        if (waiting.size() == 1) {
            // All partitions at the same moments, so that the thread wakes up less often.
            long leftNs = PAUSE_NS - Math.floorMod(nowNs, PAUSE_NS);
            CLOCK.schedule(this::pauseIsOver, leftNs, TimeUnit.NANOSECONDS);
        }
    }

    private synchronized void pauseIsOver() {
        try {
            writeWaiting(System.nanoTime());
        } catch (RuntimeException error) {
            failure = error;
        }
    }

    private void writeWaiting(long nowNs) {
        for (Slot slot : waiting) {
            slot.writtenNs = nowNs;
            write(newestOf, slot.key, slot.newest, slot.oldestHeaders);
            slot.oldestHeaders = null;
            slot.newest = null;
        }
        waiting.clear();
    }
}
