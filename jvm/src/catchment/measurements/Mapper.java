package catchment.measurements;

import catchment.records.Names;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;

/** Turns what a device sent into a measurement, or says what is wrong with it. */
public final class Mapper {
    private static final byte MAGIC = 0;
    private static final int PREFIX_BYTES = 1 + Integer.BYTES;
    private static final ObjectMapper JSON =
            new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    private final Subjects subjects;
    private final Map<Schema, GenericDatumWriter<GenericRecord>> writers = new HashMap<>();
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private BinaryEncoder encoder;
    private BinaryDecoder decoder;

    public Mapper(Subjects subjects) {
        this.subjects = subjects;
    }

    /** The measurement in a message of a stream; `originUs` is the time of the record that has none of its own. */
    public Measurement map(Mapping mapping, String stream, long originUs, byte[] message) throws Unmappable {
        try {
            if (message == null) {
                throw new Unmappable("the record is empty");
            }
            return mapping.isAvro() ? passed(mapping, message) : made(mapping, stream, originUs, message);
        } catch (Unmappable why) {
            throw why.in("mapping " + mapping.id());
        }
    }

    private Measurement made(Mapping mapping, String stream, long originUs, byte[] message) throws Unmappable {
        Subjects.Version version = subjects.latest(mapping.subject());
        Schema schema = version.usable();
        JsonNode document = parsed(message);
        String sensor = Derivation.sensor(mapping, stream, document);
        long timestampMs = Derivation.timestampMs(mapping, originUs, document);
        GenericData.Record record = new GenericData.Record(schema);
        for (Schema.Field field : schema.getFields()) {
            record.put(field.pos(), switch (field.name()) {
                case Subjects.SENSOR -> sensor;
                case Subjects.TIMESTAMP -> timestampMs;
                default -> Conversion.ofField(field, mapping.valueOf(field.name(), document));
            });
        }
        return new Measurement(sensor, timestampMs, encoded(version.id(), record), record);
    }

    private static JsonNode parsed(byte[] message) throws Unmappable {
        try {
            JsonNode document = JSON.readTree(message);
            if (document.isObject()) {
                return document;
            }
            throw new Unmappable("the message is no JSON object");
        } catch (JsonProcessingException error) {
            throw new Unmappable("the message is no JSON: " + error.getOriginalMessage());
        } catch (IOException error) {
            throw new Unmappable("the message is no JSON: " + error.getMessage());
        }
    }

    private byte[] encoded(int id, GenericRecord record) throws Unmappable {
        try {
            bytes.reset();
            bytes.writeBytes(ByteBuffer.allocate(PREFIX_BYTES).put(MAGIC).putInt(id).array());
            encoder = EncoderFactory.get().directBinaryEncoder(bytes, encoder);
            writers.computeIfAbsent(record.getSchema(), GenericDatumWriter::new).write(record, encoder);
            return bytes.toByteArray();
        } catch (IOException | RuntimeException error) {
            // A default that does not fit its own field shows only here.
            throw new Unmappable("it cannot be written: " + error.getMessage());
        }
    }

    /** A message in the wire format is handed on byte for byte, if its schema reads exactly all of it. */
    private Measurement passed(Mapping mapping, byte[] message) throws Unmappable {
        if (message.length < PREFIX_BYTES || message[0] != MAGIC) {
            throw new Unmappable("the message is not in Confluent's wire format");
        }
        int id = ByteBuffer.wrap(message).getInt(1);
        GenericRecord record = decoded(subjects.byId(mapping.subject(), id).usable(), message);
        String sensor = record.get(Subjects.SENSOR).toString();
        if (!Names.isName(sensor)) {
            throw new Unmappable("field " + Subjects.SENSOR + ": \"" + sensor + "\" is no id of a sensor");
        }
        long timestampMs = (long) record.get(Subjects.TIMESTAMP);
        return new Measurement(sensor, Derivation.checked(timestampMs), message, record);
    }

    private GenericRecord decoded(Schema schema, byte[] message) throws Unmappable {
        try {
            decoder = DecoderFactory.get()
                    .binaryDecoder(message, PREFIX_BYTES, message.length - PREFIX_BYTES, decoder);
            GenericRecord record = new GenericDatumReader<GenericRecord>(schema).read(null, decoder);
            if (!decoder.isEnd()) {
                throw new Unmappable("the message is longer than its schema says");
            }
            return record;
        } catch (IOException | RuntimeException | StackOverflowError error) {
            throw new Unmappable("the message does not fit its schema: " + error);
        }
    }
}
