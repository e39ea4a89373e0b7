package catchment.store;

import static catchment.store.Names.quoted;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** The tables of a store: made when the first row needs them, and widened when a later one needs more. */
final class Tables {
    static final String DELAY_TYPE = "bigint";

    private final Connection connection;
    private final String schema;
    private final Map<String, Map<String, ColumnType>> known = new HashMap<>();
    private final Map<Shape, Loader> loaders = new HashMap<>();
    private int made;

    Tables(Connection connection, String schema) {
        this.connection = connection;
        this.schema = schema;
    }

    /** Where the counts and positions are, apart from what analysts look at. */
    static String accounts(String schema) {
        return quoted(schema + "_store");
    }

    /** Makes the two schemas and the tables of our own. */
    void prepare() throws SQLException {
        String ours = accounts(schema);
        inTransaction(
                "CREATE SCHEMA IF NOT EXISTS " + quoted(schema),
                "CREATE SCHEMA IF NOT EXISTS " + ours,
                "DO $$ BEGIN CREATE TYPE " + ours + ".stamp AS (origin_us bigint, source text COLLATE \"C\","
                        + " sequence bigint); EXCEPTION WHEN duplicate_object THEN NULL; END $$",
                "CREATE TABLE IF NOT EXISTS " + ours + ".superseded (stamp " + ours + ".stamp PRIMARY KEY)",
                "CREATE TABLE IF NOT EXISTS " + ours + ".sources (source text PRIMARY KEY, received bigint NOT NULL,"
                        + " highest bigint NOT NULL, repeated bigint NOT NULL, first_origin_us bigint NOT NULL,"
                        + " last_origin_us bigint NOT NULL) WITH (fillfactor = 50)",
                "CREATE TABLE IF NOT EXISTS " + ours + ".positions (topic text, partition integer,"
                        + " next_offset bigint NOT NULL, PRIMARY KEY (topic, partition)) WITH (fillfactor = 50)");
    }

    /** Whether there is a way into the table of a shape. */
    boolean isReady(Shape shape) {
        return loaders.containsKey(shape);
    }

    /** The way into the table of a shape that was made ready. */
    Loader loader(Shape shape) {
        return loaders.get(shape);
    }

    /** Sees that the table of a shape is there, with all columns that it needs. */
    void makeReady(Shape shape) throws SQLException, Unstorable {
        Map<String, ColumnType> present = columns(shape.table());
        String[] changes = present.isEmpty() ? new String[] {creation(shape)} : changes(shape, present);
        if (changes.length > 0) {
            inTransaction(changes);
            known.remove(shape.table());
            // The table has more columns now: ways into it that were made before would not clear them.
            loaders.keySet().removeIf(other -> other.table().equals(shape.table()));
        }
        Loader loader = new Loader(schema, shape, columns(shape.table()), ++made);
        inTransaction(loader.creation());
        loaders.put(shape, loader);
    }

    private Map<String, ColumnType> columns(String table) throws SQLException {
        Map<String, ColumnType> held = known.get(table);
        if (held != null) {
            return held;
        }
        Map<String, ColumnType> found = new LinkedHashMap<>();
        String question = "SELECT column_name, data_type FROM information_schema.columns"
                + " WHERE table_schema = ? AND table_name = ? ORDER BY ordinal_position";
        try (PreparedStatement statement = connection.prepareStatement(question)) {
            statement.setString(1, schema);
            statement.setString(2, table);
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    found.put(rows.getString(1), ColumnType.fromSql(rows.getString(2)));
                }
            }
        }
        connection.commit();
        known.put(table, found);
        return found;
    }

    private String creation(Shape shape) {
        String fields = shape.columns().stream()
                .map(column -> quoted(column.name()) + " " + column.type().sql())
                .collect(Collectors.joining(", "));
        String stamped = shape.stamped()
                ? "site text NOT NULL, stamp " + accounts(schema) + ".stamp NOT NULL, "
                : "";
        String key = shape.key().stream().map(Names::quoted).collect(Collectors.joining(", "));
        return "CREATE TABLE " + quoted(schema) + "." + quoted(shape.table()) + " (" + stamped + fields + ", "
                + Shape.DELAY + " " + DELAY_TYPE + ", PRIMARY KEY (" + key + "))";
    }

    private String[] changes(Shape shape, Map<String, ColumnType> present) throws Unstorable {
        if (shape.stamped() != present.containsKey(Shape.STAMP)) {
            throw new Unstorable("the table " + shape.table() + " was made for another kind of record");
        }
        Map<String, String> changes = new LinkedHashMap<>();
        for (Shape.Column column : shape.columns()) {
            String name = quoted(column.name());
            ColumnType held = present.get(column.name());
            if (!present.containsKey(column.name())) {
                changes.put(name, "ADD COLUMN " + name + " " + column.type().sql());
                continue;
            }
            ColumnType joined = held == null ? null : held.joined(column.type());
            if (joined == null) {
                throw new Unstorable("the column " + column.name() + " of " + shape.table() + " is "
                        + (held == null ? "of a type of its own" : held.sql()) + " and takes no "
                        + column.type().sql());
            }
            if (joined != held) {
                changes.put(name, "ALTER COLUMN " + name + " TYPE " + joined.sql());
            }
        }
        String table = "ALTER TABLE " + quoted(schema) + "." + quoted(shape.table()) + " ";
        return changes.values().stream().map(change -> table + change).toArray(String[]::new);
    }

    private void inTransaction(String... statements) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String each : statements) {
                statement.execute(each);
            }
        }
        connection.commit();
    }
}
