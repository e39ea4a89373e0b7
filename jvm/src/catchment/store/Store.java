package catchment.store;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import org.postgresql.Driver;

/**
 * One store: tasks hand over records, and a thread writes them, a batch a transaction.
 *
 * <p>While PostgreSQL is away the thread tries again with growing pauses; the queue fills, and the tasks wait.
 * Nothing is given up: only what no table could ever take goes to the dead letters.
 */
public final class Store implements AutoCloseable {
    private static final long FIRST_PAUSE_MS = 250;
    private static final int CONNECT_S = 10;
    private static final int ANSWER_S = 60;

    private final StoreSettings settings;
    private final Schemas schemas;
    private final DeadLetters deadLetters;
    private final BlockingQueue<Item> queue;
    private final StoreState state = new StoreState();
    private final Thread writer;
    private Connection connection;
    private Merge merge;
    private volatile boolean closed;

    Store(StoreSettings settings) {
        this.settings = settings;
        this.schemas = new Schemas(settings.kafka(), settings.schemasTopic());
        this.deadLetters = new DeadLetters(settings);
        this.queue = new ArrayBlockingQueue<>(settings.queueRows());
        this.writer = new Thread(this::run, settings.toString());
        this.writer.setDaemon(true);
        this.writer.start();
    }

    Schemas schemas() {
        return schemas;
    }

    StoreState state() {
        return state;
    }

    int queued() {
        return queue.size();
    }

    /** Hands a record over; waits while the queue is full. */
    void put(Item item) throws InterruptedException {
        item.pending().add();
        try {
            queue.put(item);
        } catch (InterruptedException error) {
            item.pending().done();
            throw error;
        }
    }

    @Override
    public void close() {
        closed = true;
        writer.interrupt();
    }

    private void run() {
        List<Item> batch = new ArrayList<>();
        try {
            // At once, and not with the first record: whether it can is known then, and where it stands.
            untilDone(this::connect);
            while (!closed) {
                batch.add(queue.take());
                gather(batch);
                untilDone(() -> writeOnce(batch));
                batch.forEach(item -> item.pending().done());
                batch.clear();
            }
        } catch (InterruptedException error) {
            // Closed: what was not written comes again from the last checkpoint.
        } finally {
            disconnect();
            deadLetters.close();
        }
    }

    /** Gives a batch a few milliseconds to grow: a transaction of many rows costs little more than one of few. */
    private void gather(List<Item> batch) throws InterruptedException {
        if (queue.size() < settings.batchRows()) {
            Thread.sleep(settings.flushMs());
        }
        queue.drainTo(batch, settings.batchRows() - 1);
    }

    private interface Work {
        void run() throws SQLException, ExecutionException, InterruptedException;
    }

    private void untilDone(Work work) throws InterruptedException {
        long pauseMs = FIRST_PAUSE_MS;
        while (true) {
            try {
                work.run();
                state.runs();
                return;
            } catch (SQLException | ExecutionException | RuntimeException error) {
                // Whatever it is: to give up would leave the tasks waiting for ever, and nobody would know.
                if (closed) {
                    throw new InterruptedException();
                }
                state.fails(error);
                disconnect();
                Thread.sleep(pauseMs);
                pauseMs = Math.min(2 * pauseMs, Math.round(settings.retryMaxS() * 1000));
            }
        }
    }

    private void writeOnce(List<Item> batch) throws SQLException, ExecutionException, InterruptedException {
        connect();
        List<Item> items = judged(batch);
        List<Item> letters = items.stream().filter(item -> item.reading() == null).toList();
        if (!letters.isEmpty()) {
            deadLetters.send(letters);
            state.rejected(letters.size());
        }
        for (List<Item> part : withOneShapeATable(items)) {
            commit(part);
        }
    }

    private void commit(List<Item> items) throws SQLException, ExecutionException, InterruptedException {
        try {
            state.written(items, merge.write(items));
        } catch (SQLException error) {
            connection.rollback();
            if (!isAboutData(error)) {
                throw error;
            }
            writeParts(items, error);
        }
    }

    /** Splits a batch where a table comes in another shape than before: when its schema has just changed. */
    private static List<List<Item>> withOneShapeATable(List<Item> items) {
        List<List<Item>> parts = new ArrayList<>();
        Map<String, Shape> shapes = new HashMap<>();
        int first = 0;
        for (int index = 0; index < items.size(); index++) {
            Reading reading = items.get(index).reading();
            if (reading == null) {
                continue;
            }
            Shape before = shapes.putIfAbsent(reading.shape().table(), reading.shape());
            if (before != null && !before.equals(reading.shape())) {
                parts.add(items.subList(first, index));
                first = index;
                shapes.clear();
                shapes.put(reading.shape().table(), reading.shape());
            }
        }
        parts.add(items.subList(first, items.size()));
        return parts;
    }

    /** Finds the row that PostgreSQL does not take by halving the batch. */
    private void writeParts(List<Item> items, SQLException error)
            throws SQLException, ExecutionException, InterruptedException {
        if (items.size() == 1) {
            writeOnce(List.of(items.get(0).refused(firstLine(error))));
            return;
        }
        int half = items.size() / 2;
        writeOnce(items.subList(0, half));
        writeOnce(items.subList(half, items.size()));
    }

    /** The batch with those rows taken out that there can be no table for. */
    private List<Item> judged(List<Item> batch) throws SQLException {
        Set<Shape> fresh = new HashSet<>();
        for (Item item : batch) {
            if (item.reading() != null && !merge.isReady(item.reading().shape())) {
                fresh.add(item.reading().shape());
            }
        }
        if (fresh.isEmpty()) {
            return batch;
        }
        Map<Shape, String> refused = merge.prepare(fresh);
        return batch.stream()
                .map(item -> item.reading() != null && refused.containsKey(item.reading().shape())
                        ? item.refused(refused.get(item.reading().shape()))
                        : item)
                .toList();
    }

    private void connect() throws SQLException {
        if (connection != null) {
            return;
        }
        Properties properties = new Properties();
        properties.putAll(settings.connection());
        properties.setProperty("connectTimeout", String.valueOf(CONNECT_S));
        properties.setProperty("socketTimeout", String.valueOf(ANSWER_S));
        properties.setProperty("tcpKeepAlive", "true");
        properties.setProperty("ApplicationName", "catchment");
        Connection fresh = new Driver().connect(settings.url(), properties);
        try {
            merge = new Merge(fresh, settings.schema());
            // What was committed and not told before the last end is told now.
            state.counted(merge.accounts().all());
            state.reached(merge.accounts().positions());
            fresh.commit();
        } catch (SQLException error) {
            fresh.close();
            throw error;
        }
        connection = fresh;
    }

    private void disconnect() {
        try {
            if (connection != null) {
                connection.close();
            }
        } catch (SQLException error) {
            // It is gone either way.
        }
        connection = null;
    }

    private static boolean isAboutData(SQLException error) {
        String code = error.getSQLState();
        return code != null && (code.startsWith("22") || code.startsWith("23"));
    }

    static String firstLine(Exception error) {
        String message = error instanceof SQLException ? error.getMessage() : error.toString();
        return String.valueOf(message).strip().split("\n", 2)[0];
    }
}
