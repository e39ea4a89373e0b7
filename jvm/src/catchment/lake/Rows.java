package catchment.lake;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.HashMap;
import java.util.Map;
import org.apache.avro.generic.GenericRecord;
import org.apache.parquet.io.api.Binary;

/** Turns the records of one layout into rows. */
final class Rows {
    private static final int WIRE_BYTES = 1 + Integer.BYTES;
    private static final long FIRST_DAY = LocalDate.of(1, 1, 1).toEpochDay();
    private static final long LAST_DAY = LocalDate.of(9999, 12, 31).toEpochDay();
    private static final long DAY_MS = 86_400_000L;

    final Layout layout;
    private final Fields fields;
    private final long arrivedMs;
    // Of the few names of sources and topics, which nearly every row repeats.
    private final Map<String, Binary> texts = new HashMap<>();

    Rows(Layout layout, Fields fields, long arrivedMs) {
        this.layout = layout;
        this.fields = fields;
        this.arrivedMs = arrivedMs;
    }

    /** The id of the schema of a value in Confluent's wire format. */
    static int schemaId(byte[] value) throws Unstorable {
        if (value == null || value.length <= WIRE_BYTES || value[0] != 0) {
            throw new Unstorable("not in Confluent's wire format");
        }
        return ByteBuffer.wrap(value).getInt(1);
    }

    /** A row, with the day that it belongs to. */
    record Dated(Object[] values, LocalDate day, long timeMs) {}

    Dated of(Entry entry) throws Unstorable {
        if (layout.needsStamp() && !entry.isStamped()) {
            throw new Unstorable("it has no valid stamp");
        }
        GenericRecord record = fields == null ? null : fields.decode(entry.value(), WIRE_BYTES);
        long timeMs = timeMs(entry, record);
        long day = Math.floorDiv(timeMs, DAY_MS);
        if (day < FIRST_DAY || day > LAST_DAY) {
            throw new Unstorable("its time, " + timeMs + " ms since 1970, is in no year from 1 to 9999");
        }
        Object[] values = new Object[layout.columns().size()];
        for (int index = 0; index < values.length; index++) {
            values[index] = value(layout.columns().get(index), entry, record, timeMs);
        }
        return new Dated(values, LocalDate.ofEpochDay(day), timeMs);
    }

    private long timeMs(Entry entry, GenericRecord record) throws Unstorable {
        if (!layout.timeField().isEmpty()) {
            Object time = fields.get(record, layout.timeField(), Layout.Type.LONG);
            if (time == null) {
                throw new Unstorable("it has no " + layout.timeField());
            }
            return (Long) time;
        }
        return layout.needsStamp() ? Math.floorDiv(entry.originUs(), 1000L) : entry.loggedMs();
    }

    private Object value(Layout.Column column, Entry entry, GenericRecord record, long timeMs) {
        return switch (column.part()) {
            case FIELD -> fields.get(record, column.argument(), column.type());
            case KEY -> bytes(entry.key(), column.type());
            case SITE -> text(entry.source(0));
            case GATEWAY -> text(entry.source(1));
            case EPOCH -> entry.isStamped() ? Long.valueOf(entry.source(2)) : null;
            case STREAM -> text(entry.source(3));
            case SEQUENCE -> entry.sequence();
            case ORIGIN_US -> entry.originUs();
            case TIME -> timeMs * 1000;
            case ARRIVED_MS -> arrivedMs;
            case DELAY_MS -> arrivedMs - timeMs;
            case LOGGED_MS -> entry.loggedMs();
            case PARTITION -> (long) entry.partition();
            case OFFSET -> entry.offset();
            case VALUE -> bytes(entry.value(), column.type());
            case HEADER -> bytes(entry.header(column.argument()), column.type());
            case TOPIC -> text(entry.topic());
        };
    }

    /** What tells the row's track from others. */
    String track(Object[] values) {
        StringBuilder track = new StringBuilder();
        for (int index : layout.identity()) {
            Object value = values[index];
            track.append(value instanceof Binary text ? text.toStringUsingUTF8() : value).append('/');
        }
        return track.substring(0, track.length() - 1);
    }

    private Binary text(String text) {
        return text == null ? null : texts.computeIfAbsent(text, Rows::binary);
    }

    private static Binary binary(String text) {
        return Binary.fromConstantByteArray(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Bytes as they are, or as text that is certainly text, whatever somebody put there. */
    private static Binary bytes(byte[] bytes, Layout.Type type) {
        if (bytes == null) {
            return null;
        }
        return type == Layout.Type.BINARY
                ? Binary.fromConstantByteArray(bytes)
                : Binary.fromString(new String(bytes, StandardCharsets.UTF_8));
    }
}
