package catchment.queries;

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
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.api.java.UDF4;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;

/** What people are told of a row, as an entry of `events` in Confluent's wire format. */
public final class Notices implements UDF4<String, String, Long, Long, byte[]> {
    private static final long serialVersionUID = 1L;

    private final String schema;
    private final int schemaId;
    private final String site;
    private final String query;
    private final String output;
    private transient Schema parsed;

    private Notices(String schema, int schemaId, String site, String query, String output) {
        this.schema = schema;
        this.schemaId = schemaId;
        this.site = site;
        this.query = query;
        this.output = output;
    }

    /** Adds a column `_notice` to changes with a column `_text`; called from Python. */
    public static Dataset<Row> apply(
            Dataset<Row> rows, String schema, int schemaId, String site, String query, String output) {
        Notices notices = new Notices(schema, schemaId, site, query, output);
        return rows.withColumn(
                "_notice",
                functions.udf(notices, DataTypes.BinaryType)
                        .apply(
                                functions.col("_text"),
                                functions.col("_id"),
                                functions.col("_origin_us"),
                                functions.col("_version")));
    }

    @Override
    public byte[] call(String text, String id, Long originUs, Long version) {
        if (text == null || version == null) {
            return null;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(ByteBuffer.allocate(1 + Integer.BYTES).put((byte) 0).putInt(schemaId).array());
        try {
            BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);
            new GenericDatumWriter<GenericRecord>(schema()).write(fields(text, id, originUs, version), encoder);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return bytes.toByteArray();
    }

    private Schema schema() {
        if (parsed == null) {
            parsed = new Schema.Parser().parse(schema);
        }
        return parsed;
    }

    private GenericRecord fields(String text, String id, long originUs, long version) {
        GenericRecord fields = new GenericData.Record(schema());
        fields.put("timestamp", Math.floorDiv(originUs, 1_000L));
        fields.put("sensor_id", output);
        fields.put("site", site);
        fields.put("node", site);
        fields.put("rule", "query/" + query);
        fields.put("sequence", version);
        fields.put("cause", new GenericData.EnumSymbol(schema().getField("cause").schema(), "SENDER"));
        fields.put("text", text);
        fields.put("user", "query/" + query);
        fields.put("transaction", id);
        return fields;
    }
}
