package catchment.thresholds;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;

/** Reads measurements that were written with one schema, in Confluent's wire format. */
public final class Decoder {
    private static final byte MAGIC = 0;
    private static final int HEADER_BYTES = 1 + Integer.BYTES;
    private static final String TIMESTAMP = "timestamp";
    private static final String UNIT = "unit";

    private final String subject;
    private final GenericDatumReader<GenericRecord> reader;
    private BinaryDecoder reused;

    public Decoder(String subject, String schema) {
        this.subject = subject;
        this.reader = new GenericDatumReader<>(new Schema.Parser().parse(schema));
    }

    public String subject() {
        return subject;
    }

    /** The id of the schema that a measurement was written with. */
    public static int schemaId(byte[] value) throws Undecodable {
        if (value == null || value.length < HEADER_BYTES || value[0] != MAGIC) {
            throw new Undecodable("it does not begin with a zero and the id of a schema");
        }
        return ByteBuffer.wrap(value).getInt(1);
    }

    /** A reading; its time is at most the one at which it came to its gateway. */
    public Reading read(byte[] value, long originMs, String usualUnit) throws Undecodable {
        GenericRecord fields = decode(value);
        if (!(valueOf(fields, TIMESTAMP) instanceof Number timestamp)) {
            throw new Undecodable("it has no timestamp that is a number");
        }
        Object unit = valueOf(fields, UNIT);
        return new Reading(
                subject,
                Math.min(timestamp.longValue(), originMs),
                unit == null ? usualUnit : unit.toString(),
                field -> valueOf(fields, field) instanceof Number number ? number.doubleValue() : Double.NaN);
    }

    /** The value of a field; null also if there is no such field. */
    private static Object valueOf(GenericRecord fields, String name) {
        Schema.Field field = fields.getSchema().getField(name);
        return field == null ? null : fields.get(field.pos());
    }

    private GenericRecord decode(byte[] value) throws Undecodable {
        try {
            int length = value.length - HEADER_BYTES;
            reused = DecoderFactory.get().binaryDecoder(value, HEADER_BYTES, length, reused);
            GenericRecord fields = reader.read(null, reused);
            if (!reused.isEnd()) {
                throw new Undecodable("there are bytes after the end of " + subject);
            }
            return fields;
        } catch (IOException | RuntimeException error) {
            throw new Undecodable("it is not a " + subject + ": " + error.getMessage());
        }
    }
}
