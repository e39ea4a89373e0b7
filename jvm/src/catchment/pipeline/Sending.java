package catchment.pipeline;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Hands records to Kafka's client, in order.
 *
 * <p>To serialise, compress and place a record takes a third of the time of a query that does little else. So while
 * rows come densely, as from a backlog, a thread of its own does that, and looks by itself every millisecond whether
 * there are some. Otherwise they are handed over at once. To wake a thread for every few of them would cost more than
 * it saves.
 */
final class Sending {
    private static final int MOST_WAITING = 10_000;
    private static final int COUNTED = 64;
    private static final long DENSE_NS = 2_000_000;
    private static final int ENOUGH = 500;
    private static final long LOOK_MS = 1;
    private static final int MOST_LOOKS = 10;

    private final Producer<byte[], byte[]> producer;
    private final Thread thread;
    private List<ProducerRecord<byte[], byte[]>> waiting = new ArrayList<>();
    private int counted;
    private long countedSinceNs = System.nanoTime();
    private boolean isDense;
    private boolean isIdle;
    private boolean isEnding;
    private volatile boolean isAbandoned;
    private volatile Exception failure;

    Sending(Producer<byte[], byte[]> producer) {
        this.producer = producer;
        this.thread = new Thread(this::run, "to-kafka");
        thread.setDaemon(true);
        thread.start();
    }

    /** Takes a record; waits while too many others do. */
    synchronized void add(ProducerRecord<byte[], byte[]> record) {
        check();
        count();
        if (isIdle && waiting.isEmpty() && !isDense) {
            send(record);
            return;
        }
        try {
            while (waiting.size() >= MOST_WAITING) {
                wait();
                check();
            }
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("stopped while records waited for Kafka", error);
        }
        waiting.add(record);
        if (isIdle) {
            isIdle = false;
            notifyAll();
        }
    }

    private void count() {
        counted++;
        if (counted == COUNTED) {
            long nowNs = System.nanoTime();
            isDense = nowNs - countedSinceNs < DENSE_NS;
            countedSinceNs = nowNs;
            counted = 0;
        }
    }

    private void send(ProducerRecord<byte[], byte[]> record) {
        producer.send(record, (metadata, error) -> {
            if (error != null) {
                failure = error;
            }
        });
    }

    /** Returns when Kafka has all of them. */
    void finish() {
        end();
        try {
            thread.join();
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("stopped while records waited for Kafka", error);
        }
        producer.flush();
        check();
    }

    /** Ends at once: what was not written comes again from the last checkpoint. */
    void abandon() {
        isAbandoned = true;
        end();
    }

    private synchronized void end() {
        isEnding = true;
        notifyAll();
    }

    /** What could not be written ends the query, which comes back to it from its last checkpoint. */
    private void check() {
        if (failure != null) {
            throw new IllegalStateException(failure.toString(), failure);
        }
    }

    private void run() {
        try {
            for (var batch = next(); batch != null; batch = next()) {
                for (ProducerRecord<byte[], byte[]> record : batch) {
                    // What comes behind a record that Kafka has not got would hide that it is missing.
                    if (failure != null || isAbandoned) {
                        return;
                    }
                    send(record);
                }
            }
        } catch (InterruptedException | RuntimeException error) {
            failure = error;
        } finally {
            // Who waits for room would wait for ever.
            synchronized (this) {
                notifyAll();
            }
        }
    }

    /** All that waits; null when there will be no more. */
    private synchronized List<ProducerRecord<byte[], byte[]>> next() throws InterruptedException {
        if (isDense && waiting.size() < ENOUGH && !isEnding) {
            wait(LOOK_MS);
        }
        for (int looks = 0; waiting.isEmpty(); looks++) {
            if (isEnding) {
                return null;
            }
            isDense &= looks < MOST_LOOKS;
            isIdle = !isDense;
            wait(isDense ? LOOK_MS : 0);
        }
        isIdle = false;
        List<ProducerRecord<byte[], byte[]>> taken = waiting;
        waiting = new ArrayList<>(taken.size());
        notifyAll();
        return taken;
    }
}
