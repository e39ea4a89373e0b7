package catchment.store;

import static catchment.store.Names.quoted;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The statements that bring rows of one shape into their table, by way of a temporary one. */
final class Loader {
    private static final String NUMBER = "catchment_number";

    private final Shape shape;
    private final String table;
    private final String temporary;
    private final String accounts;
    private final List<String> columns = new ArrayList<>();
    private final List<String> absent;

    Loader(String schema, Shape shape, Map<String, ColumnType> present, int number) {
        this.shape = shape;
        this.table = quoted(schema) + "." + quoted(shape.table());
        this.temporary = "pg_temp.catchment_" + number;
        this.accounts = Tables.accounts(schema);
        if (shape.stamped()) {
            columns.addAll(List.of(Shape.SITE, Shape.STAMP));
        }
        shape.columns().forEach(column -> columns.add(column.name()));
        columns.add(Shape.DELAY);
        this.absent = present.keySet().stream().filter(name -> !columns.contains(name)).toList();
    }

    String creation() {
        String fields = shape.columns().stream()
                .map(column -> ", " + quoted(column.name()) + " " + column.type().sql())
                .collect(Collectors.joining());
        String stamped = shape.stamped() ? ", site text, stamp " + accounts + ".stamp" : "";
        return "CREATE TEMPORARY TABLE " + temporary.substring("pg_temp.".length()) + " (" + NUMBER + " integer"
                + stamped + fields + ", " + Shape.DELAY + " " + Tables.DELAY_TYPE + ") ON COMMIT DELETE ROWS";
    }

    /** Into the table itself. */
    String copy() {
        return "COPY " + table + " (" + list(columns) + ") FROM STDIN";
    }

    /** Into the temporary table, with the number of each row in its batch. */
    String copyAside() {
        return "COPY " + temporary + " (" + list(columns) + ", " + NUMBER + ") FROM STDIN";
    }

    /** The rows of the table that have a key of the batch, with the stamps that they have now. */
    String held() {
        return "SELECT new." + NUMBER + ", (old.stamp).origin_us, (old.stamp).source, (old.stamp).sequence FROM "
                + temporary + " AS new JOIN " + table + " AS old USING (" + list(shape.key()) + ")";
    }

    /** Puts in what is new, and replaces what has an older stamp. */
    String insertion() {
        List<String> all = new ArrayList<>(columns);
        all.addAll(absent);
        return "INSERT INTO " + table + " AS held (" + list(all) + ") SELECT " + list(columns)
                + ", NULL".repeat(absent.size()) + " FROM " + temporary + " ON CONFLICT (" + list(shape.key())
                + ") DO " + (shape.stamped() ? "UPDATE SET " + replacement(all) : "NOTHING");
    }

    private String replacement(List<String> all) {
        String assignments = all.stream()
                .filter(name -> !shape.key().contains(name))
                .map(name -> quoted(name) + " = excluded." + quoted(name))
                .collect(Collectors.joining(", "));
        return assignments + " WHERE excluded.stamp > held.stamp";
    }

    private static String list(List<String> names) {
        return names.stream().map(Names::quoted).collect(Collectors.joining(", "));
    }
}
