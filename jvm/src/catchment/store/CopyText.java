package catchment.store;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.HexFormat;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericFixed;

/** Values in the text form of COPY. */
public final class CopyText {
    private static final String NOTHING = "\\N";
    private static final long FIRST_MS = Instant.parse("0001-01-01T00:00:00Z").toEpochMilli();
    private static final long LAST_MS = Instant.parse("9999-12-31T23:59:59.999Z").toEpochMilli();

    private CopyText() {}

    /** Appends a field's value. */
    public static void append(StringBuilder line, String field, Schema schema, ColumnType type, Object value)
            throws Unstorable {
        if (value == null) {
            line.append(NOTHING);
            return;
        }
        switch (type) {
            case TIME -> line.append(instant(field, schema, (Long) value));
            case BYTES -> line.append("\\\\x").append(HexFormat.of().formatHex(bytes(value)));
            case JSON -> appendText(line, field, GenericData.get().toString(value));
            case TEXT -> appendText(line, field, value.toString());
            default -> line.append(value);
        }
    }

    /** Appends text with what COPY would take for its own signs escaped. */
    public static void appendText(StringBuilder line, String field, String text) throws Unstorable {
        for (int index = 0; index < text.length(); index++) {
            char sign = text.charAt(index);
            switch (sign) {
                case '\\' -> line.append("\\\\");
                case '\n' -> line.append("\\n");
                case '\r' -> line.append("\\r");
                case '\t' -> line.append("\\t");
                case '\0' -> throw new Unstorable(field + " has the character U+0000, which PostgreSQL cannot keep");
                default -> line.append(sign);
            }
        }
    }

    private static Instant instant(String field, Schema schema, long value) throws Unstorable {
        boolean micros = ColumnType.withoutNull(schema).getLogicalType() instanceof LogicalTypes.TimestampMicros;
        long ms = micros ? Math.floorDiv(value, 1000L) : value;
        if (ms < FIRST_MS || ms > LAST_MS) {
            throw new Unstorable(field + " is " + value + ", which is no time between the years 1 and 9999");
        }
        Instant instant = Instant.ofEpochMilli(ms);
        return micros ? instant.plusNanos(Math.floorMod(value, 1000L) * 1000L) : instant;
    }

    private static byte[] bytes(Object value) {
        if (value instanceof GenericFixed fixed) {
            return fixed.bytes();
        }
        ByteBuffer buffer = ((ByteBuffer) value).duplicate();
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }
}
