package catchment.pipeline;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.spark.sql.ForeachWriter;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.kafka010.producer.CachedKafkaProducer;
import org.apache.spark.sql.kafka010.producer.InternalKafkaProducerPool$;

/**
 * The end of a query at Kafka, where the newest row of each key of one topic is enough.
 *
 * <p>Such a row is written at once if none of its key was just before. Else it waits for a few milliseconds, and
 * a newer one takes its place; the headers stay those of the first that waits, as they say since when it is under
 * way. Rows of other topics are written as they come.
 *
 * <p>Opened and closed once a partition and checkpoint interval; to close waits until Kafka has all, so that a
 * checkpoint never claims more. Input: {@link catchment.control.KafkaRows}.
 */
public final class NewestToKafka extends ForeachWriter<Row> {
    private static final long serialVersionUID = 1L;
    private static final long PAUSE_NS = 5_000_000;
    private static final int TOPIC = 0;
    private static final int KEY = 1;
    private static final int VALUE = 2;
    private static final int HEADERS = 3;

    /** One thread for all partitions: the producer does the work. */
    private static final ScheduledExecutorService CLOCK = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread thread = new Thread(work, "newest-to-kafka");
        thread.setDaemon(true);
        return thread;
    });

    private final HashMap<String, Object> settings;
    private final String newestOf;
    private transient CachedKafkaProducer producer;
    private transient Map<ByteBuffer, Slot> slots;
    private transient List<Slot> waiting;
    private transient volatile Exception failure;

    /** When a key was written last, and what waits to be. */
    private static final class Slot {
        private long writtenNs;
        private Row oldest;
        private Row newest;
    }

    /** Called from Python, with the settings of a producer. */
    public NewestToKafka(Map<String, String> producer, String newestOf) {
        this.settings = new HashMap<>(producer);
        this.newestOf = newestOf;
        settings.put("key.serializer", ByteArraySerializer.class.getName());
        settings.put("value.serializer", ByteArraySerializer.class.getName());
    }

    @Override
    public boolean open(long partitionId, long epochId) {
        // Spark's own, which stay from one interval to the next and are closed when nobody needs them.
        producer = InternalKafkaProducerPool$.MODULE$.acquire(settings);
        slots = new HashMap<>();
        waiting = new ArrayList<>();
        failure = null;
        return true;
    }

    @Override
    public synchronized void process(Row row) {
        check();
        if (!newestOf.equals(row.getString(TOPIC))) {
            write(row, row);
            return;
        }
        byte[] key = row.getAs(KEY);
        Slot slot = slots.computeIfAbsent(ByteBuffer.wrap(key), each -> new Slot());
        long nowNs = System.nanoTime();
        if (slot.newest != null) {
            slot.newest = row;
        } else if (nowNs - slot.writtenNs >= PAUSE_NS) {
            slot.writtenNs = nowNs;
            write(row, row);
        } else {
            slot.oldest = row;
            slot.newest = row;
            waits(slot, nowNs);
        }
    }

    @Override
    public synchronized void close(Throwable error) {
        if (producer == null) {
            return;
        }
        try {
            if (error == null) {
                writeWaiting(System.nanoTime());
                producer.producer().flush();
                check();
            }
        } finally {
            waiting.clear();
            InternalKafkaProducerPool$.MODULE$.release(producer);
            producer = null;
        }
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
            write(slot.newest, slot.oldest);
            slot.oldest = null;
            slot.newest = null;
        }
        waiting.clear();
    }

    private void write(Row row, Row withHeaders) {
        ProducerRecord<byte[], byte[]> written =
                new ProducerRecord<>(row.getString(TOPIC), row.getAs(KEY), row.<byte[]>getAs(VALUE));
        if (!withHeaders.isNullAt(HEADERS)) {
            for (Row header : withHeaders.<Row>getList(HEADERS)) {
                written.headers().add(header.getString(0), header.<byte[]>getAs(1));
            }
        }
        producer.producer().send(written, (metadata, error) -> {
            if (error != null) {
                failure = error;
            }
        });
    }

    /** What could not be written ends the query, which comes back to it from its last checkpoint. */
    private void check() {
        if (failure != null) {
            throw new IllegalStateException(failure.toString(), failure);
        }
    }
}
