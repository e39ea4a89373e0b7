package catchment.store;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** What the store keeps of itself, in the same transactions as the rows: counts, positions, superseded stamps. */
final class Accounts {
    private static final String COLUMNS = "source, received, highest, repeated, first_origin_us, last_origin_us";

    private final Connection connection;
    private final String schema;

    Accounts(Connection connection, String schema) {
        this.connection = connection;
        this.schema = Tables.accounts(schema);
    }

    /** Every source that the store has. */
    List<SourceCount> all() throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT " + COLUMNS + " FROM " + schema + ".sources")) {
            return read(statement);
        }
    }

    /** How far each topic has been read. */
    Map<Position, Long> positions() throws SQLException {
        Map<Position, Long> offsets = new HashMap<>();
        try (PreparedStatement statement = connection.prepareStatement(
                        "SELECT topic, partition, next_offset FROM " + schema + ".positions");
                ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                offsets.put(new Position(rows.getString(1), rows.getInt(2)), rows.getLong(3));
            }
        }
        return offsets;
    }

    /** Adds to the counts, and says what they are now. */
    List<SourceCount> add(Collection<SourceCount> counts) throws SQLException {
        String addition = "INSERT INTO " + schema + ".sources AS held (" + COLUMNS + ") SELECT * FROM"
                + " unnest(?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[])"
                + " ON CONFLICT (source) DO UPDATE SET received = held.received + excluded.received,"
                + " highest = greatest(held.highest, excluded.highest),"
                + " repeated = held.repeated + excluded.repeated,"
                + " first_origin_us = least(held.first_origin_us, excluded.first_origin_us),"
                + " last_origin_us = greatest(held.last_origin_us, excluded.last_origin_us) RETURNING " + COLUMNS;
        try (PreparedStatement statement = connection.prepareStatement(addition)) {
            set(statement, 1, "text", counts, SourceCount::source);
            set(statement, 2, "bigint", counts, SourceCount::received);
            set(statement, 3, "bigint", counts, SourceCount::highest);
            set(statement, 4, "bigint", counts, SourceCount::repeated);
            set(statement, 5, "bigint", counts, SourceCount::firstOriginUs);
            set(statement, 6, "bigint", counts, SourceCount::lastOriginUs);
            return read(statement);
        }
    }

    /** Notes how far the topics have been read. */
    void reach(Map<Position, Long> offsets) throws SQLException {
        String move = "INSERT INTO " + schema + ".positions AS held (topic, partition, next_offset) SELECT * FROM"
                + " unnest(?::text[], ?::integer[], ?::bigint[]) ON CONFLICT (topic, partition)"
                + " DO UPDATE SET next_offset = greatest(held.next_offset, excluded.next_offset)";
        try (PreparedStatement statement = connection.prepareStatement(move)) {
            set(statement, 1, "text", offsets.entrySet(), each -> each.getKey().topic());
            set(statement, 2, "integer", offsets.entrySet(), each -> each.getKey().partition());
            set(statement, 3, "bigint", offsets.entrySet(), Map.Entry::getValue);
            statement.executeUpdate();
        }
    }

    /** Remembers stamps that gave way to newer ones, and says which of them it had not known. */
    Set<StampKey> supersede(Collection<StampKey> stamps) throws SQLException {
        Set<StampKey> unknown = new HashSet<>();
        if (stamps.isEmpty()) {
            return unknown;
        }
        String memory = "INSERT INTO " + schema + ".superseded (stamp) SELECT ROW(origin, source, number)::" + schema
                + ".stamp FROM unnest(?::bigint[], ?::text[], ?::bigint[]) AS each (origin, source, number)"
                + " ON CONFLICT DO NOTHING RETURNING (stamp).origin_us, (stamp).source, (stamp).sequence";
        try (PreparedStatement statement = connection.prepareStatement(memory)) {
            set(statement, 1, "bigint", stamps, StampKey::originUs);
            set(statement, 2, "text", stamps, StampKey::source);
            set(statement, 3, "bigint", stamps, StampKey::sequence);
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    unknown.add(new StampKey(rows.getLong(1), rows.getString(2), rows.getLong(3)));
                }
            }
        }
        return unknown;
    }

    private <T> void set(
            PreparedStatement statement, int place, String type, Collection<T> of, Function<T, Object> value)
            throws SQLException {
        statement.setArray(place, connection.createArrayOf(type, of.stream().map(value).toArray()));
    }

    private static List<SourceCount> read(PreparedStatement statement) throws SQLException {
        List<SourceCount> counts = new ArrayList<>();
        try (ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                counts.add(new SourceCount(
                        rows.getString(1),
                        rows.getLong(2),
                        rows.getLong(3),
                        rows.getLong(4),
                        rows.getLong(5),
                        rows.getLong(6)));
            }
        }
        return counts;
    }
}
