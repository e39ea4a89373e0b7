package catchment.twins;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;

/** Reads measurements of one schema; several subjects may have it. */
final class Measured {
    private static final byte MAGIC = 0;
    private static final int HEADER_BYTES = 1 + Integer.BYTES;
    private static final String TIMESTAMP = "timestamp";
    private static final Set<String> NO_VALUES = Set.of(TIMESTAMP, "sensor_id");

    final Set<String> subjects = new TreeSet<>();
    private final GenericDatumReader<GenericRecord> reader;
    private BinaryDecoder reused;

    Measured(String schema) {
        reader = new GenericDatumReader<>(new Schema.Parser().parse(schema));
    }

    /** The id of the schema that a measurement was written with; nothing if it is not in the wire format. */
    static Integer schemaId(byte[] value) {
        return value == null || value.length < HEADER_BYTES || value[0] != MAGIC
                ? null
                : ByteBuffer.wrap(value).getInt(1);
    }

    /** The fields of a measurement; null if it is not what its schema says. */
    GenericRecord read(byte[] value) {
        try {
            int length = value.length - HEADER_BYTES;
            reused = DecoderFactory.get().binaryDecoder(value, HEADER_BYTES, length, reused);
            GenericRecord fields = reader.read(null, reused);
            return reused.isEnd() ? fields : null;
        } catch (IOException | RuntimeException error) {
            return null;
        }
    }

    /** When it was measured. */
    static long timestampMs(GenericRecord fields, long originMs) {
        return valueOf(fields, TIMESTAMP) instanceof Long time && time >= 0 ? time : originMs;
    }

    /** What a feed makes of a measurement: only what can be a value of an object. */
    static Map<String, Object> values(Feed feed, GenericRecord fields) {
        Map<String, Object> values = new LinkedHashMap<>();
        if (feed.values.isEmpty()) {
            for (Schema.Field field : fields.getSchema().getFields()) {
                if (!NO_VALUES.contains(field.name())) {
                    add(values, field.name(), fields.get(field.pos()));
                }
            }
        } else {
            feed.values.forEach((name, field) -> add(values, name, valueOf(fields, field)));
        }
        return values;
    }

    private static void add(Map<String, Object> values, String name, Object value) {
        Object scalar = scalar(value);
        if (scalar != null) {
            values.put(name, scalar);
        }
    }

    private static Object scalar(Object value) {
        if (value instanceof Integer || value instanceof Long) {
            return ((Number) value).longValue();
        }
        if (value instanceof Float || value instanceof Double) {
            double number = ((Number) value).doubleValue();
            return Double.isFinite(number) ? number : null;
        }
        if (value instanceof Boolean) {
            return value;
        }
        boolean isText = value instanceof CharSequence
                || value instanceof org.apache.avro.generic.GenericEnumSymbol<?>;
        return isText ? value.toString() : null;
    }

    private static Object valueOf(GenericRecord fields, String name) {
        Schema.Field field = fields.getSchema().getField(name);
        return field == null ? null : fields.get(field.pos());
    }
}
