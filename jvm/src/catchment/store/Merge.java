package catchment.store;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.postgresql.PGConnection;

/**
 * Brings a batch into the tables in one transaction, so that a batch that comes again changes nothing.
 *
 * <ol>
 *   <li>COPY brings the rows of each shape straight into their table. Nearly always that is all.
 *   <li>If one of them has a key that is there already, the transaction is undone and made anew with care: COPY
 *       into a temporary table; the rows that are there already are looked up, each is a repeat, older or
 *       newer; one INSERT puts in the new ones and replaces the older ones, and its count must be as expected.
 *   <li>Stamps that gave way are remembered, so that they count once however often they come.
 *   <li>Counts by source, and how far each topic has been read, are written; then all is committed.
 * </ol>
 *
 * <p>A lock of the session keeps out a writer that was left over from a crash.
 */
final class Merge {
    private static final long LOCK = 0x4361746368L << 32;
    private static final String UNIQUE_VIOLATION = "23505";
    // After a repeat more are likely, as when a crash is made good: so many batches are written with care.
    private static final int CAREFUL_BATCHES = 20;

    private final Connection connection;
    private final Tables tables;
    private final Accounts accounts;
    private int careful = CAREFUL_BATCHES;

    Merge(Connection connection, String schema) throws SQLException {
        this.connection = connection;
        this.tables = new Tables(connection, schema);
        this.accounts = new Accounts(connection, schema);
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            // A plan that was good for an empty table would be kept when it is large: the index is always right.
            statement.execute("SET enable_seqscan = off");
            statement.execute("SET enable_hashjoin = off");
            statement.execute("SET enable_mergejoin = off");
            statement.execute("SET jit = off");
            statement.execute("SELECT pg_advisory_lock(" + (LOCK + Integer.toUnsignedLong(schema.hashCode())) + ")");
        }
        connection.commit();
        tables.prepare();
    }

    Accounts accounts() {
        return accounts;
    }

    /** Sees that there are tables for all shapes; gives those that there can be none for, and why. */
    Map<Shape, String> prepare(Set<Shape> shapes) throws SQLException {
        Map<Shape, String> refused = new HashMap<>();
        Set<Shape> waiting = new HashSet<>(shapes);
        while (!waiting.isEmpty()) {
            for (Shape shape : waiting) {
                try {
                    tables.makeReady(shape);
                } catch (Unstorable error) {
                    refused.put(shape, error.getMessage());
                }
            }
            // One that widens a table sends the others of that table back to the start.
            waiting.removeIf(shape -> tables.isReady(shape) || refused.containsKey(shape));
        }
        return refused;
    }

    boolean isReady(Shape shape) {
        return tables.isReady(shape);
    }

    /** What a batch came to: the counts of its sources, and how far its partitions have been read. */
    record Written(List<SourceCount> counts, Map<Position, Long> offsets) {}

    /** Writes a batch, and says what it came to. No table may be meant in two shapes. */
    Written write(List<Item> items) throws SQLException {
        if (careful == 0) {
            try {
                return write(items, this::add);
            } catch (SQLException error) {
                connection.rollback();
                if (!UNIQUE_VIOLATION.equals(error.getSQLState())) {
                    throw error;
                }
                careful = CAREFUL_BATCHES;
            }
        }
        Written written = write(items, this::merge);
        careful--;
        return written;
    }

    private interface Way {
        void take(Shape shape, Batch batch, SourceCount.Counts counts) throws SQLException;
    }

    private Written write(List<Item> items, Way way) throws SQLException {
        Map<Shape, List<Reading>> byShape = new LinkedHashMap<>();
        Map<Position, Long> offsets = new HashMap<>();
        for (Item item : items) {
            offsets.merge(new Position(item.topic(), item.partition()), item.offset() + 1, Math::max);
            if (item.reading() != null) {
                byShape.computeIfAbsent(item.reading().shape(), shape -> new ArrayList<>()).add(item.reading());
            }
        }
        SourceCount.Counts counts = new SourceCount.Counts();
        for (Map.Entry<Shape, List<Reading>> rows : byShape.entrySet()) {
            way.take(rows.getKey(), new Batch(rows.getValue()), counts);
        }
        List<SourceCount> now = counts.all().isEmpty() ? List.of() : accounts.add(counts.all().values());
        accounts.reach(offsets);
        connection.commit();
        return new Written(now, offsets);
    }

    /** Rows of which none is there yet. */
    private void add(Shape shape, Batch batch, SourceCount.Counts counts) throws SQLException {
        copy(tables.loader(shape).copy(), batch.newest(), false);
        if (shape.stamped()) {
            batch.newest().forEach(row -> counts.add(row.stamp(), true));
            count(batch.superseded(), batch.repeated(), counts);
        }
    }

    /** Rows of which some may be there already. */
    private void merge(Shape shape, Batch batch, SourceCount.Counts counts) throws SQLException {
        Loader loader = tables.loader(shape);
        List<Reading> rows = batch.newest();
        copy(loader.copyAside(), rows, true);
        if (!shape.stamped()) {
            execute(loader.insertion());
            return;
        }
        List<StampKey> replaced = new ArrayList<>();
        List<StampKey> late = new ArrayList<>(batch.superseded());
        List<StampKey> repeated = new ArrayList<>(batch.repeated());
        Map<Integer, StampKey> held = held(loader);
        int written = 0;
        for (int number = 0; number < rows.size(); number++) {
            StampKey stamp = rows.get(number).stamp();
            StampKey present = held.get(number);
            int order = present == null ? 1 : stamp.compareTo(present);
            if (order > 0) {
                written++;
                counts.add(stamp, true);
            }
            if (present != null) {
                (order > 0 ? replaced : order < 0 ? late : repeated).add(order > 0 ? present : stamp);
            }
        }
        expect(written, execute(loader.insertion()), shape);
        accounts.supersede(replaced);
        count(late, repeated, counts);
    }

    private void count(List<StampKey> late, List<StampKey> repeated, SourceCount.Counts counts) throws SQLException {
        Set<StampKey> unknown = accounts.supersede(late);
        // A stamp that came late twice in one batch is new once.
        late.forEach(stamp -> counts.add(stamp, unknown.remove(stamp)));
        repeated.forEach(stamp -> counts.add(stamp, false));
    }

    private void copy(String sql, Collection<Reading> rows, boolean numbered) throws SQLException {
        long nowMs = System.currentTimeMillis();
        StringBuilder text = new StringBuilder();
        int number = 0;
        for (Reading row : rows) {
            text.append(row.line()).append(nowMs - row.timestampMs());
            if (numbered) {
                text.append('\t').append(number++);
            }
            text.append('\n');
        }
        byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
        try {
            connection.unwrap(PGConnection.class).getCopyAPI().copyIn(sql, new ByteArrayInputStream(bytes));
        } catch (IOException error) {
            throw new SQLException(error);
        }
    }

    private Map<Integer, StampKey> held(Loader loader) throws SQLException {
        Map<Integer, StampKey> held = new HashMap<>();
        try (var statement = connection.prepareStatement(loader.held());
                ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                held.put(rows.getInt(1), new StampKey(rows.getLong(2), rows.getString(3), rows.getLong(4)));
            }
        }
        return held;
    }

    private int execute(String sql) throws SQLException {
        try (var statement = connection.prepareStatement(sql)) {
            return statement.executeUpdate();
        }
    }

    private static void expect(int wanted, int written, Shape shape) throws SQLException {
        if (wanted != written) {
            throw new SQLException(shape.table() + " took " + written + " rows of " + wanted
                    + ": look for rules, triggers or policies on it");
        }
    }
}
