package catchment.thresholds;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;

/** Events in Confluent's wire format, written with the schema that is shipped with Catchment. */
public final class EventFormat {
    private static final byte MAGIC = 0;

    private final Schema schema;
    private final byte[] header;
    private final GenericDatumWriter<GenericRecord> writer;
    private BinaryEncoder reused;

    public EventFormat(String schema, int schemaId) {
        this.schema = new Schema.Parser().parse(schema);
        this.header = ByteBuffer.allocate(1 + Integer.BYTES).put(MAGIC).putInt(schemaId).array();
        this.writer = new GenericDatumWriter<>(this.schema);
    }

    /** An event about a sensor as bytes. */
    public byte[] write(String site, String sensor, Event event) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(header);
        reused = EncoderFactory.get().binaryEncoder(bytes, reused);
        try {
            writer.write(fields(site, sensor, event), reused);
            reused.flush();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return bytes.toByteArray();
    }

    /** An event from its bytes; nothing if another schema wrote it. */
    public Optional<Event> read(byte[] value) {
        if (value.length < header.length || !Arrays.equals(value, 0, header.length, header, 0, header.length)) {
            return Optional.empty();
        }
        try {
            int length = value.length - header.length;
            GenericDatumReader<GenericRecord> reader = new GenericDatumReader<>(schema);
            return Optional.of(event(
                    reader.read(null, DecoderFactory.get().binaryDecoder(value, header.length, length, null))));
        } catch (IOException error) {
            return Optional.empty();
        }
    }

    private static Event event(GenericRecord fields) {
        return new Event(
                new RuleKey(text(fields, "node"), text(fields, "rule")),
                new Terms(
                        (long) fields.get("rule_version"),
                        text(fields, "field"),
                        Direction.valueOf(text(fields, "direction")),
                        (double) fields.get("temperature_threshold"),
                        (double) fields.get("hysteresis"),
                        text(fields, "unit")),
                text(fields, "subject"),
                Phase.valueOf(text(fields, "phase")),
                (long) fields.get("sequence"),
                (long) fields.get("timestamp"),
                (long) fields.get("first_ms"),
                (long) fields.get("last_ms"),
                (long) fields.get("count"),
                (double) fields.get("average_transgression"),
                (double) fields.get("max_transgression"),
                (double) fields.get("latest"));
    }

    private static String text(GenericRecord fields, String name) {
        return fields.get(name).toString();
    }

    private GenericRecord fields(String site, String sensor, Event event) {
        Terms terms = event.terms();
        GenericRecord fields = new GenericData.Record(schema);
        fields.put("site", site);
        fields.put("sensor_id", sensor);
        fields.put("node", event.rule().node());
        fields.put("rule", event.rule().id());
        fields.put("rule_version", terms.version());
        fields.put("phase", symbol("phase", event.phase()));
        fields.put("direction", symbol("direction", terms.direction()));
        fields.put("subject", event.subject());
        fields.put("field", terms.field());
        fields.put("unit", terms.unit());
        fields.put("temperature_threshold", terms.threshold());
        fields.put("hysteresis", terms.hysteresis());
        fields.put("sequence", event.sequence());
        fields.put("timestamp", event.timestampMs());
        fields.put("first_ms", event.firstMs());
        fields.put("last_ms", event.lastMs());
        fields.put("exceeded_for_ms", event.timestampMs() - event.firstMs());
        fields.put("count", event.count());
        fields.put("latest", event.latest());
        fields.put("average_transgression", event.averageTransgression());
        fields.put("max_transgression", event.maxTransgression());
        return fields;
    }

    private GenericData.EnumSymbol symbol(String field, Enum<?> value) {
        return new GenericData.EnumSymbol(schema.getField(field).schema(), value.name());
    }
}
