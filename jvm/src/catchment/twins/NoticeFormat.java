package catchment.twins;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;

/** Notices in Confluent's wire format, written with the schema that is shipped with Catchment. */
final class NoticeFormat {
    private static final byte MAGIC = 0;
    // No rule can be called that: notices are told apart from what rules say.
    private static final String RULE = "twins/notice";

    private final Schema schema;
    private final byte[] header;

    NoticeFormat(String schema, int schemaId) {
        this.schema = new Schema.Parser().parse(schema);
        this.header = ByteBuffer.allocate(1 + Integer.BYTES).put(MAGIC).putInt(schemaId).array();
    }

    byte[] write(String site, String id, Notice notice) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(header);
        try {
            BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);
            new GenericDatumWriter<GenericRecord>(schema).write(fields(site, id, notice), encoder);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return bytes.toByteArray();
    }

    private GenericRecord fields(String site, String id, Notice notice) {
        GenericRecord fields = new GenericData.Record(schema);
        Schema cause = schema.getField("cause").schema();
        fields.put("timestamp", notice.change().atMs);
        fields.put("sensor_id", id);
        fields.put("site", site);
        fields.put("node", site);
        fields.put("rule", RULE);
        fields.put("sequence", notice.sequence());
        fields.put("cause", new GenericData.EnumSymbol(cause, notice.asked() ? "SENDER" : "VALIDATION"));
        fields.put("text", notice.text());
        fields.put("user", notice.change().user);
        fields.put("transaction", notice.change().transaction);
        return fields;
    }
}
