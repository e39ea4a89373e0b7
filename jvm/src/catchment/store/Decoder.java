package catchment.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;

/** From a record in Confluent's wire format to a row. One for each task: it is not safe for threads. */
public final class Decoder {
    private static final int HEAD_BYTES = 1 + Integer.BYTES;

    private final Schemas schemas;
    private final Map<Integer, Known> known = new HashMap<>();
    private final Set<String> sources = new HashSet<>();
    private BinaryDecoder reused;
    private GenericRecord record;

    private record Known(Shape shape, GenericDatumReader<GenericRecord> reader) {}

    public Decoder(Schemas schemas) {
        this.schemas = schemas;
    }

    /** A row, or the reason why it is none. */
    public Reading decode(String kind, byte[] key, byte[] value, byte[] stamp)
            throws Unstorable, InterruptedException {
        if (value == null || value.length < HEAD_BYTES || value[0] != 0) {
            throw new Unstorable("it is not in Confluent's wire format");
        }
        boolean isReading = kind.equals("measurements");
        Known schema = schema(ByteBuffer.wrap(value).getInt(1), isReading);
        record = read(schema.reader(), value);
        StampKey stampKey = isReading ? StampKey.of(stamp, sources) : null;
        return isReading ? reading(schema.shape(), stampKey, siteOf(key)) : reading(schema.shape(), null, null);
    }

    private Known schema(int id, boolean isReading) throws Unstorable, InterruptedException {
        // An event and a reading may share a schema's id, and stand in tables of different shapes.
        int place = isReading ? id : -id;
        Known found = known.get(place);
        if (found == null) {
            Schema schema = schemas.get(id);
            Shape shape = isReading ? Shape.ofReading(schema) : Shape.ofEvent(schema);
            found = new Known(shape, new GenericDatumReader<>(schema));
            known.put(place, found);
        }
        return found;
    }

    private GenericRecord read(GenericDatumReader<GenericRecord> reader, byte[] value) throws Unstorable {
        reused = DecoderFactory.get().binaryDecoder(value, HEAD_BYTES, value.length - HEAD_BYTES, reused);
        try {
            GenericRecord read = reader.read(null, reused);
            if (!reused.isEnd()) {
                throw new Unstorable("it has more bytes than its schema says");
            }
            return read;
        } catch (IOException | AvroRuntimeException | IndexOutOfBoundsException error) {
            throw new Unstorable("it is not what its schema says: " + error.getMessage());
        }
    }

    private static String siteOf(byte[] key) throws Unstorable {
        String text = key == null ? "" : new String(key, StandardCharsets.UTF_8);
        int stroke = text.indexOf('/');
        if (stroke < 1) {
            throw new Unstorable("its key is not SITE/SENSOR");
        }
        return text.substring(0, stroke);
    }

    private Reading reading(Shape shape, StampKey stamp, String site) throws Unstorable {
        StringBuilder line = new StringBuilder(128);
        List<String> key = new ArrayList<>();
        if (site != null) {
            key.add(site);
            CopyText.appendText(line, Shape.SITE, site);
            line.append('\t').append(stamp.sql()).append('\t');
        }
        List<Schema.Field> fields = record.getSchema().getFields();
        long timestampMs = 0;
        for (Shape.Column column : shape.columns()) {
            Schema.Field field = fields.get(column.position());
            Object value = record.get(column.position());
            if (shape.key().contains(column.name())) {
                key.add(keyPart(field.name(), value));
            }
            if (column.name().equals(Shape.TIME)) {
                timestampMs = timeOf(value);
            }
            CopyText.append(line, field.name(), field.schema(), column.type(), value);
            line.append('\t');
        }
        return new Reading(shape, List.copyOf(key), stamp, timestampMs, line.toString());
    }

    private static String keyPart(String field, Object value) throws Unstorable {
        if (value == null) {
            throw new Unstorable(field + " is missing, and identifies the row");
        }
        return value.toString();
    }

    private static long timeOf(Object value) throws Unstorable {
        if (value instanceof Long ms) {
            return ms;
        }
        throw new Unstorable("timestamp is not a number of milliseconds");
    }
}
