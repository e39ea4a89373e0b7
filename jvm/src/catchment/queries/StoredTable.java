package catchment.queries;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The rows of a table as they are now, by what they are joined on. Entries are JSON, and their keys SITE/ID. */
final class StoredTable {
    private final TableSpec spec;
    private final JsonReader reader;
    private final int site;
    private final int id;
    private final int type;
    private final Map<String, Object[]> byName = new HashMap<>();
    private final Map<Object, TreeMap<String, Object[]>> byKey = new HashMap<>();

    StoredTable(TableSpec spec) {
        this.spec = spec;
        List<String> names = new ArrayList<>(spec.names());
        List<String> types = new ArrayList<>(spec.types());
        // The type of a twin says whether it is of this table, which has no such column itself.
        names.add("type");
        types.add("string");
        this.reader = new JsonReader(names, types, spec.type() == null ? null : "values");
        this.site = spec.names().indexOf("site");
        this.id = spec.names().indexOf("id");
        this.type = spec.names().size();
    }

    /** Takes an entry over; a value of null takes it out. What cannot be read is in no table. */
    void learn(String name, byte[] value) {
        Object[] before = byName.remove(name);
        if (before != null) {
            byKey.computeIfPresent(keyOf(before), (key, rows) -> {
                rows.remove(name);
                return rows.isEmpty() ? null : rows;
            });
        }
        Object[] row = value == null ? null : read(name, value);
        if (row != null) {
            byName.put(name, row);
            byKey.computeIfAbsent(keyOf(row), key -> new TreeMap<>()).put(name, row);
        }
    }

    private Object[] read(String name, byte[] value) {
        Object[] row = new Object[spec.names().size() + 1];
        try {
            reader.read(value, row, 0);
        } catch (Unreadable error) {
            return null;
        }
        int stroke = name.indexOf('/');
        fill(row, site, name.substring(0, Math.max(0, stroke)));
        fill(row, id, name.substring(stroke + 1));
        return spec.type() == null || spec.type().equals(row[type]) ? row : null;
    }

    private static void fill(Object[] row, int place, String value) {
        if (place >= 0 && row[place] == null) {
            row[place] = value;
        }
    }

    private Object keyOf(Object[] row) {
        Object[] key = new Object[spec.on().length];
        for (int each = 0; each < key.length; each++) {
            key[each] = row[spec.on()[each]];
        }
        return Values.key(key);
    }

    /** The rows with a key, by their names. */
    Collection<Map.Entry<String, Object[]>> find(Object[] key) {
        for (Object part : key) {
            if (part == null) {
                return List.of();
            }
        }
        TreeMap<String, Object[]> rows = byKey.get(Values.key(key));
        return rows == null ? List.of() : rows.entrySet();
    }
}
