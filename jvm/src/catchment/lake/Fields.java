package catchment.lake;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericFixed;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.util.Utf8;
import org.apache.parquet.io.api.Binary;

/** The fields of an Avro value: decoded by one schema, and turned into what a column holds. */
final class Fields {
    private static final long MICROS = 1000;

    private final Schema schema;
    private final GenericDatumReader<GenericRecord> reader;
    private final Map<String, Schema.Field> fields = new HashMap<>();
    private BinaryDecoder decoder;

    Fields(String text) {
        schema = new Schema.Parser().parse(text);
        reader = new GenericDatumReader<>(schema);
        schema.getFields().forEach(field -> fields.put(field.name(), field));
    }

    /** The record that begins at an offset and ends with the bytes. */
    GenericRecord decode(byte[] bytes, int offset) throws Unstorable {
        try {
            decoder = DecoderFactory.get().binaryDecoder(bytes, offset, bytes.length - offset, decoder);
            GenericRecord record = reader.read(null, decoder);
            if (!decoder.isEnd()) {
                throw new Unstorable("bytes are left over after a " + schema.getName());
            }
            return record;
        } catch (IOException | AvroRuntimeException | IndexOutOfBoundsException | ClassCastException error) {
            throw new Unstorable("not a " + schema.getName() + " in Avro: " + error.getMessage());
        }
    }

    /** The value of a field as a column of that type holds it. */
    Object get(GenericRecord record, String name, Layout.Type type) {
        Schema.Field field = fields.get(name);
        return field == null ? null : convert(record.get(field.pos()), field.schema(), type);
    }

    private static Object convert(Object value, Schema schema, Layout.Type type) {
        if (value == null) {
            return null;
        }
        return switch (type) {
            case BOOLEAN -> value;
            case LONG, DATE -> ((Number) value).longValue();
            case TIMESTAMP -> ((Number) value).longValue() * (isMillis(schema) ? MICROS : 1);
            case DOUBLE -> ((Number) value).doubleValue();
            case BINARY -> Binary.fromConstantByteArray(bytes(value));
            case STRING -> value instanceof Utf8 text
                    ? Binary.fromConstantByteArray(text.getBytes(), 0, text.getByteLength())
                    : Binary.fromString(text(value));
        };
    }

    private static boolean isMillis(Schema schema) {
        if (schema.isUnion()) {
            return schema.getTypes().stream().anyMatch(Fields::isMillis);
        }
        return schema.getLogicalType() instanceof LogicalTypes.TimestampMillis;
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

    private static String text(Object value) {
        boolean isPlain = value instanceof CharSequence || value instanceof GenericData.EnumSymbol;
        return isPlain ? value.toString() : GenericData.get().toString(value);
    }
}
