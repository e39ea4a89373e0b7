package catchment.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.Schema;

/**
 * How the records of one schema stand in a table: a column a field, and those that we add.
 *
 * <p>A measurement is identified by site, sensor and time, and carries its stamp. An event is numbered.
 */
public record Shape(String table, List<Column> columns, List<String> key, boolean stamped) {
    public static final String SITE = "site";
    public static final String STAMP = "stamp";
    public static final String DELAY = "delay_ms";
    public static final String SENSOR = "sensor_id";
    public static final String TIME = "timestamp";

    // One of each: tasks come to the same shapes, and whether two are equal is asked for every row.
    private static final Map<Shape, Shape> KNOWN = new ConcurrentHashMap<>();
    private static final List<String> READING_KEY = List.of(SITE, SENSOR, TIME);
    private static final List<String> EVENT_KEY =
            List.of(SITE, SENSOR, "node", "rule", "sequence", TIME);

    /** A column and the field that fills it; {@code position} is that of the field in its record. */
    public record Column(String name, ColumnType type, int position) {}

    /** By its name alone: rows are sorted by their shapes, and a table has few of them. */
    @Override
    public int hashCode() {
        return table.hashCode();
    }

    /** The shape of readings: the site comes from the record's key. */
    public static Shape ofReading(Schema schema) throws Unstorable {
        return of(schema, Set.of(SITE, STAMP, DELAY), READING_KEY, true);
    }

    /** The shape of events, which say their site themselves. */
    public static Shape ofEvent(Schema schema) throws Unstorable {
        return of(schema, Set.of(DELAY), EVENT_KEY, false);
    }

    private static Shape of(Schema schema, Set<String> ours, List<String> key, boolean stamped) throws Unstorable {
        if (schema.getType() != Schema.Type.RECORD) {
            throw new Unstorable("its schema is not that of a record but " + schema.getType().getName());
        }
        List<Column> columns = new ArrayList<>();
        for (Schema.Field field : schema.getFields()) {
            ColumnType type = field.name().equals(TIME) ? ColumnType.TIME : ColumnType.of(field.schema());
            columns.add(new Column(Names.column(field.name(), ours), type, field.pos()));
        }
        for (String name : key) {
            boolean known = columns.stream().anyMatch(column -> column.name().equals(name));
            if (!known && !ours.contains(name)) {
                throw new Unstorable("its schema " + schema.getFullName() + " has no field " + name);
            }
        }
        Shape made = new Shape(Names.table(schema.getName()), List.copyOf(columns), key, stamped);
        return KNOWN.computeIfAbsent(made, same -> same);
    }
}
