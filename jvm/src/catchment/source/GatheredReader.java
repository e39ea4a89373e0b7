package catchment.source;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeRead;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the partitions of a task with one consumer, for a checkpoint interval.
 *
 * <p>While a great many records come at once, as from a backlog, the next are fetched, decrypted and unpacked by another
 * thread while the task works on these, which also makes rows of them where a query has a {@link Reading} of its own.
 * Consumer and reading are used by one of both at a time. What is left of these when the interval ends is for the next
 * one: to ask Kafka for it again could take as long as Kafka holds an answer back when nothing comes.
 */
final class GatheredReader implements SupportsRealTimeRead<InternalRow> {
    private static final Logger LOG = LoggerFactory.getLogger(GatheredReader.class);
    private static final RecordStatus ROW = RecordStatus.newStatusWithoutArrivalTime(true);
    private static final RecordStatus NONE = RecordStatus.newStatusWithoutArrivalTime(false);

    private static final int MANY_RECORDS = 2_000;
    private static final Duration AHEAD = Duration.ofMillis(50);
    private static final ExecutorService POLLING = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "polls-ahead");
        thread.setDaemon(true);
        return thread;
    });

    private final GatheredPartition partition;
    private final Consumers.Key key;
    private final Consumer<byte[], byte[]> consumer;
    private final Function<ConsumerRecord<byte[], byte[]>, InternalRow> rows;
    private final Map<TopicPartition, Place> places = new HashMap<>();
    private final boolean makesAhead;
    private Iterator<Polled> left = Collections.emptyIterator();
    private CompletableFuture<List<Polled>> ahead;
    private Polled polled = new Polled(null, List.of(), null);
    private Place here;
    private boolean isBroken;

    /** How far a partition has been handed on. */
    private static final class Place {
        private long next;
    }

    GatheredReader(GatheredPartition partition, ReadingSpec reading) {
        this.partition = partition;
        this.key = new Consumers.Key(partition);
        Consumers.Held held = Consumers.acquire(key, partition);
        this.consumer = held.consumer();
        this.rows = reading.isAsked() ? reading.make()::read : new RowOfRecord(partition.includeHeaders())::of;
        this.makesAhead = reading.isAsked();
        if (held.next().equals(partition.from())) {
            held.next().forEach(this::stand);
            left = held.found().iterator();
        } else {
            partition.from().forEach(this::begin);
        }
    }

    private void begin(TopicPartition each, long from) {
        if (from < 0) {
            consumer.seekToBeginning(List.of(each));
        } else if (consumer.position(each) != from) {
            consumer.seek(each, from);
        }
        stand(each, from < 0 ? consumer.position(each) : from);
    }

    private void stand(TopicPartition each, long next) {
        Place place = new Place();
        place.next = next;
        places.put(each, place);
    }

    @Override
    public RecordStatus nextWithTimeout(Long timeoutMs) {
        if (readRow()) {
            return ROW;
        }
        long endNs = System.nanoTime() + Duration.ofMillis(timeoutMs).toNanos();
        while (hasMore(endNs)) {
            if (readRow()) {
                return ROW;
            }
        }
        return NONE;
    }

    /** Reads on until a record makes a row; false if none of those does that are at hand. */
    private boolean readRow() {
        while (polled.hasNext()) {
            boolean isRow = polled.next();
            here.next = polled.offset() + 1;
            if (isRow) {
                return true;
            }
        }
        return false;
    }

    /** Goes on to the next partition that has records, and asks Kafka when there is none. */
    private boolean hasMore(long endNs) {
        while (!left.hasNext()) {
            long leftNs = endNs - System.nanoTime();
            if (leftNs <= 0) {
                return false;
            }
            List<Polled> found = ahead == null ? polled(Duration.ofNanos(leftNs)) : polledAhead(leftNs);
            if (areMany(found)) {
                ahead = CompletableFuture.supplyAsync(this::madeAhead, POLLING);
            }
            left = found.iterator();
        }
        polled = left.next();
        here = places.get(polled.partition());
        return true;
    }

    private List<Polled> polled(Duration timeout) {
        ConsumerRecords<byte[], byte[]> found = poll(timeout);
        List<Polled> apart = found.partitions().stream()
                .map(each -> new Polled(each, found.records(each), rows))
                .toList();
        if (makesAhead && areMany(apart)) {
            // The other thread makes the next ones, and only one at a time can.
            apart.forEach(Polled::make);
        }
        return apart;
    }

    private static boolean areMany(List<Polled> polled) {
        return polled.stream().mapToInt(Polled::count).sum() >= MANY_RECORDS;
    }

    private List<Polled> madeAhead() {
        return polled(AHEAD);
    }

    /** What the other thread has found; nothing if it has not in that time. */
    private List<Polled> polledAhead(long timeoutNs) {
        try {
            List<Polled> found = ahead.get(timeoutNs, TimeUnit.NANOSECONDS);
            ahead = null;
            return found;
        } catch (TimeoutException error) {
            return List.of();
        } catch (InterruptedException error) {
            throw new InterruptException(error);
        } catch (ExecutionException error) {
            throw new KafkaException(error.getCause().getMessage(), error.getCause());
        }
    }

    private ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
        try {
            return consumer.poll(timeout);
        } catch (OffsetOutOfRangeException error) {
            if (partition.failOnDataLoss()) {
                isBroken = true;
                throw error;
            }
            LOG.warn("Records are gone before they were read: {}", error.getMessage());
            consumer.seekToBeginning(error.offsetOutOfRangePartitions().keySet());
            return ConsumerRecords.empty();
        } catch (RuntimeException error) {
            isBroken = true;
            throw error;
        }
    }

    @Override
    public PartitionOffset getOffset() {
        return new GatheredOffset(standing());
    }

    @Override
    public InternalRow get() {
        return polled.row();
    }

    @Override
    public boolean next() {
        throw new UnsupportedOperationException("this source is for queries in real-time mode");
    }

    @Override
    public void close() {
        List<Polled> found = new ArrayList<>(List.of(polled));
        left.forEachRemaining(found::add);
        if (ahead != null) {
            found.addAll(ahead.exceptionally(error -> List.of()).join());
        }
        if (isBroken) {
            Consumers.discard(consumer);
        } else {
            Consumers.release(key, new Consumers.Held(consumer, found, standing()));
        }
    }

    private Map<TopicPartition, Long> standing() {
        Map<TopicPartition, Long> next = new HashMap<>();
        places.forEach((each, place) -> next.put(each, place.next));
        return next;
    }
}
