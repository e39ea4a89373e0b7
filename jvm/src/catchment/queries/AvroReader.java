package catchment.queries;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;

/**
 * Reads what was written with one of the schemas of a subject, in Confluent's wire format. A schema that nobody knows
 * yet may be on its way, as one that was registered a moment ago: it is waited for, and only then refused.
 */
final class AvroReader implements ContentReader {
    private static final int HEAD_BYTES = 1 + Integer.BYTES;
    private static final long SCHEMA_WAIT_MS = 10_000;

    private final List<String> names;
    private final List<String> types;
    private final String subject;
    private final Map<Integer, Known> known = new HashMap<>();
    private final Set<Integer> ofOthers = new HashSet<>();
    private final Set<Integer> givenUp = new HashSet<>();
    private BinaryDecoder reused;

    /** A schema, and where the fields of the columns are in it; -1 if it lacks one. */
    private record Known(GenericDatumReader<GenericRecord> reader, int[] positions) {}

    AvroReader(List<String> names, List<String> types, String subject, Map<Integer, String> schemas) {
        this.names = names;
        this.types = types;
        this.subject = subject;
        schemas.forEach(this::learn);
    }

    private Known learn(int id, String text) {
        Schema schema = new Schema.Parser().parse(text);
        int[] positions = names.stream()
                .map(schema::getField)
                .mapToInt(field -> field == null ? -1 : field.pos())
                .toArray();
        Known learned = new Known(new GenericDatumReader<>(schema), positions);
        known.put(id, learned);
        return learned;
    }

    /** The schema with an id; null if it is of another subject. */
    private Known schemaOf(int id) throws Unreadable {
        Known found = known.get(id);
        if (found != null || ofOthers.contains(id)) {
            return found;
        }
        Schemas.Version version = Schemas.await(id, givenUp.contains(id) ? 0 : SCHEMA_WAIT_MS);
        if (version == null) {
            givenUp.add(id);
            throw new Unreadable("no schema has the id " + id);
        }
        if (version.subject().equals(subject)) {
            return learn(id, version.text());
        }
        ofOthers.add(id);
        return null;
    }

    @Override
    public boolean read(byte[] value, Object[] row, int room) throws Unreadable {
        if (value.length < HEAD_BYTES || value[0] != 0) {
            throw new Unreadable("it is not in Confluent's wire format");
        }
        Known schema = schemaOf(ByteBuffer.wrap(value).getInt(1));
        if (schema == null) {
            return false;
        }
        GenericRecord fields = decode(schema.reader, value);
        for (int each = 0; each < schema.positions.length; each++) {
            int position = schema.positions[each];
            row[room + each] = position < 0 ? null : converted(each, fields.get(position));
        }
        return true;
    }

    private GenericRecord decode(GenericDatumReader<GenericRecord> reader, byte[] value) throws Unreadable {
        try {
            reused = DecoderFactory.get().binaryDecoder(value, HEAD_BYTES, value.length - HEAD_BYTES, reused);
            return reader.read(null, reused);
        } catch (IOException | RuntimeException error) {
            throw new Unreadable("it is not what its schema says: " + error.getMessage());
        }
    }

    private Object converted(int column, Object value) throws Unreadable {
        if (value == null) {
            return null;
        }
        try {
            return switch (ColumnKind.of(types.get(column))) {
                case INT -> ((Number) value).intValue();
                case BIGINT -> ((Number) value).longValue();
                case DOUBLE -> ((Number) value).doubleValue();
                case TIMESTAMP -> Math.multiplyExact(((Number) value).longValue(), 1_000L);
                case STRING -> value.toString();
                case BINARY -> bytes((ByteBuffer) value);
                case BOOLEAN -> (Boolean) value;
            };
        } catch (ClassCastException | ArithmeticException error) {
            throw new Unreadable("column " + names.get(column) + ": " + value + " is no " + types.get(column));
        }
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }
}
