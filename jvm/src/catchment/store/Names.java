package catchment.store;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Set;
import java.util.zip.CRC32;

/** From names of Avro to names of tables and columns. */
public final class Names {
    private static final int LONGEST = 63;
    private static final Set<String> OF_POSTGRES =
            Set.of("tableoid", "xmin", "cmin", "xmax", "cmax", "ctid");

    private Names() {}

    /** The table of a record: {@code TemperatureData} is kept in {@code temperature_data}. */
    public static String table(String recordName) {
        String snake = recordName.replaceAll("([a-z0-9])([A-Z])", "$1_$2").replaceAll("([A-Z])([A-Z][a-z])", "$1_$2");
        return fitted(snake.toLowerCase(Locale.ROOT));
    }

    /** The column of a field; one that would be taken for a column of ours gets a stroke at its end. */
    public static String column(String fieldName, Set<String> ours) {
        boolean taken = ours.contains(fieldName) || OF_POSTGRES.contains(fieldName);
        return fitted(taken ? fieldName + "_" : fieldName);
    }

    /** A name between quotation marks. */
    public static String quoted(String name) {
        return '"' + name.replace("\"", "\"\"") + '"';
    }

    /** PostgreSQL cuts long names off, and two might become one: these end with a checksum. */
    private static String fitted(String name) {
        if (name.length() <= LONGEST) {
            return name;
        }
        CRC32 checksum = new CRC32();
        checksum.update(name.getBytes(StandardCharsets.UTF_8));
        return name.substring(0, LONGEST - 9) + String.format("_%08x", checksum.getValue());
    }
}
