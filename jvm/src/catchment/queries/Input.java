package catchment.queries;

import static catchment.queries.InputColumns.*;

import catchment.control.KafkaRows;
import catchment.control.SparkRows;
import catchment.source.Reading;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Makes rows of messages of topics: those of the inputs of a query, the entries of its tables, and ticks. A message
 * may be of several inputs. What is not as declared is refused.
 */
public final class Input implements Reading, Serializable {
    private static final long serialVersionUID = 1L;

    private static final String FOUND = "_found";
    private static final ArrayData NOTHING = new GenericArrayData(new Object[0]);
    private static final ArrayData NO_HEADERS = KafkaRows.headers();

    private final String spec;
    private transient Map<String, UTF8String> topics;
    private transient Map<UTF8String, List<InputReading>> readings;
    private transient Map<UTF8String, List<Integer>> tables;
    private transient List<InternalRow> found;
    private transient UTF8String ticks;
    private transient int width;

    /** Made by the source of a query that asks for it, with what catchment/queries/frames/inputs.py writes. */
    public Input(String spec) {
        this.spec = spec;
    }

    /** The rows of Kafka's columns; called from Python. */
    public static Dataset<Row> apply(Dataset<Row> rows, String spec) {
        Input input = new Input(spec);
        Column[] message = Arrays.stream(rows.columns()).map(functions::col).toArray(Column[]::new);
        // Two steps: what is not pure may not stand inside a generator.
        return inline(rows.select(SparkRows.call(input, "read", input.found(), message).as(FOUND)));
    }

    /** The rows that the source has found; called from Python. */
    public static Dataset<Row> inline(Dataset<Row> rows) {
        return rows.select(functions.inline(functions.col(FOUND)));
    }

    /** One column: an array, because a message may make several rows, and is read whole or not at all. */
    @Override
    public StructType schema() {
        return new StructType().add(FOUND, found());
    }

    private DataType found() {
        StructType row = new StructType()
                .add("_tick_ms", DataTypes.LongType)
                .add("_id", DataTypes.StringType)
                .add("_sign", DataTypes.IntegerType)
                .add("_origin_us", DataTypes.LongType)
                .add("_version", DataTypes.LongType)
                .add("_aside", KafkaRows.SCHEMA)
                .add("_edge", DataTypes.IntegerType)
                .add("_number", DataTypes.LongType)
                .add("_entry", DataTypes.BinaryType);
        for (StructField column : StructType.fromDDL(asked().get("columns").asText()).fields()) {
            row = row.add(column);
        }
        return DataTypes.createArrayType(row, false);
    }

    @Override
    public InternalRow read(ConsumerRecord<byte[], byte[]> record) {
        if (readings == null) {
            begin();
        }
        UTF8String topic = topics.computeIfAbsent(record.topic(), UTF8String::fromString);
        ArrayData rows = read(topic, Message.of(record));
        return rows == NOTHING ? null : new GenericInternalRow(new Object[] {rows});
    }

    /** The rows of a message; called from Spark's plans, with the columns of catchment/queries/frames/inputs.py. */
    public ArrayData read(
            UTF8String topic,
            int partition,
            long offset,
            long loggedMs,
            byte[] key,
            byte[] value,
            ArrayData headers) {
        if (readings == null) {
            begin();
        }
        return read(
                topic,
                Message.of(partition, offset, loggedMs, key, value, headers == null ? NO_HEADERS : headers));
    }

    private ArrayData read(UTF8String topic, Message message) {
        found.clear();
        if (topic.equals(ticks)) {
            Object[] row = new Object[width];
            row[TICK_MS] = message.loggedMs();
            found.add(new GenericInternalRow(row));
        }
        if (message.key() != null) {
            tables.getOrDefault(topic, List.of()).forEach(edge -> found.add(entry(message, edge)));
        }
        for (InputReading reading : readings.getOrDefault(topic, List.of())) {
            InternalRow row = reading.read(message);
            if (row != null) {
                found.add(row);
            }
        }
        return found.isEmpty() ? NOTHING : new GenericArrayData(found.toArray());
    }

    private JsonNode asked() {
        try {
            return new ObjectMapper().readTree(spec);
        } catch (JsonProcessingException error) {
            throw new IllegalArgumentException(error);
        }
    }

    private void begin() {
        JsonNode asked = asked();
        topics = new HashMap<>();
        readings = new HashMap<>();
        tables = new HashMap<>();
        found = new ArrayList<>();
        width = META + StructType.fromDDL(asked.get("columns").asText()).size();
        ticks = UTF8String.fromString(asked.path("ticks").asText(""));
        for (JsonNode each : asked.get("inputs")) {
            InputSpec input = InputSpec.of(each);
            readings.computeIfAbsent(UTF8String.fromString(input.topic()), topic -> new ArrayList<>())
                    .add(new InputReading(input, width));
        }
        for (JsonNode each : asked.get("tables")) {
            tables.computeIfAbsent(UTF8String.fromString(each.get("topic").asText()), topic -> new ArrayList<>())
                    .add(each.get("edge").asInt());
        }
    }

    private InternalRow entry(Message message, int edge) {
        Object[] row = new Object[width];
        row[ID] = UTF8String.fromBytes(message.key());
        row[SIGN] = 1;
        row[EDGE] = edge;
        row[NUMBER] = message.offset();
        row[ENTRY] = message.value();
        return new GenericInternalRow(row);
    }
}
