package catchment.source;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;

/** Consumers between two checkpoint intervals: a new one for each would be a handshake for each. */
final class Consumers {
    private static final long IDLE_S = 30;
    private static final int FETCHED_BYTES = 1 << 17;
    private static final Map<Key, Held> IDLE = new ConcurrentHashMap<>();
    private static final ScheduledExecutorService CLOCK = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread thread = new Thread(work, "idle-consumers");
        thread.setDaemon(true);
        return thread;
    });

    /** Whose it is: Spark gives each start of a query a group of its own. */
    record Key(Object group, Set<TopicPartition> partitions) {
        Key(GatheredPartition partition) {
            this(
                    partition.consumer().get(ConsumerConfig.GROUP_ID_CONFIG),
                    Set.copyOf(partition.from().keySet()));
        }
    }

    /**
     * A consumer, and what it has found that nobody was given, from these places on.
     *
     * <p>One object for each time that it is put aside, so that an older clock does not close it.
     */
    static final class Held {
        private final Consumer<byte[], byte[]> consumer;
        private final List<Polled> found;
        private final Map<TopicPartition, Long> next;

        Held(Consumer<byte[], byte[]> consumer, List<Polled> found, Map<TopicPartition, Long> next) {
            this.consumer = consumer;
            this.found = found;
            this.next = next;
        }

        Consumer<byte[], byte[]> consumer() {
            return consumer;
        }

        List<Polled> found() {
            return found;
        }

        Map<TopicPartition, Long> next() {
            return next;
        }
    }

    private Consumers() {}

    /** The one that was used before, wherever it stands, or a new one. */
    static Held acquire(Key key, GatheredPartition partition) {
        Held used = IDLE.remove(key);
        if (used != null) {
            return used;
        }
        Consumer<byte[], byte[]> fresh = new KafkaConsumer<>(settings(partition));
        fresh.assign(key.partitions());
        partition.from().forEach((each, from) -> {
            if (from >= 0) {
                fresh.seek(each, from);
            }
        });
        return new Held(fresh, List.of(), Map.of());
    }

    /**
     * All that was fetched comes with one poll. A consumer asks anew only for partitions of which it holds nothing: if it
     * asked for the quiet ones alone while it still holds records of a busy one, Kafka would not answer before
     * something comes from the former, and the latter would stand still until then. So what is fetched at once is little:
     * all of it is in memory as records, many times larger than it was compressed.
     */
    private static Map<String, Object> settings(GatheredPartition partition) {
        Map<String, Object> settings = new HashMap<>(partition.consumer());
        settings.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, Integer.MAX_VALUE);
        settings.put(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, FETCHED_BYTES);
        return settings;
    }

    /** Keeps it for the next interval; when none comes the query has ended, and it is closed. */
    static void release(Key key, Held held) {
        IDLE.put(key, held);
        CLOCK.schedule(
                () -> {
                    if (IDLE.remove(key, held)) {
                        discard(held.consumer());
                    }
                },
                IDLE_S,
                TimeUnit.SECONDS);
    }

    /** Closes it, in another thread: that of a task which was stopped is interrupted, and could not. */
    static void discard(Consumer<byte[], byte[]> consumer) {
        CLOCK.execute(() -> consumer.close(Duration.ZERO));
    }
}
