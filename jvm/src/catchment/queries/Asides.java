package catchment.queries;

import catchment.control.KafkaRows;
import catchment.records.Names;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Rows that leave a query aside from its results, as they go to Kafka: to the dead letters, or to an output. */
final class Asides {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final byte[] BOX = "catchment-query".getBytes(StandardCharsets.UTF_8);
    private static final UTF8String QUERY_HEADER = UTF8String.fromString("catchment-query");
    private static final UTF8String RESULTS = KafkaRows.topic("results");
    private static final UTF8String DEADLETTER = KafkaRows.topic("deadletter");

    private final String query;
    private final String box;
    private final List<Told> told = new ArrayList<>();
    private final String lateKeys;
    private final String sourceTopic;

    /** A column that is told of a row. */
    private record Told(String name, int column, boolean isTime) {}

    Asides(String query, String box, JsonNode spec) {
        this.query = query;
        this.box = box;
        for (JsonNode each : spec.path("told")) {
            told.add(new Told(
                    each.get("name").asText(), each.get("column").asInt(), each.get("is_time").asBoolean()));
        }
        lateKeys = spec.hasNonNull("late_keys") ? spec.get("late_keys").asText() : null;
        sourceTopic = spec.path("source_topic").asText(Names.topic("records"));
    }

    /** A row that came too late, for the output that was declared for such, or else for the dead letters. */
    InternalRow late(Change change, String reason) {
        if (lateKeys == null) {
            return refused(change, "late: " + reason);
        }
        byte[] key = (lateKeys + change.id()).getBytes(StandardCharsets.UTF_8);
        return KafkaRows.row(
                RESULTS,
                key,
                change.sign() > 0 ? json(change) : null,
                KafkaRows.headers(
                        KafkaRows.header(KafkaRows.VERSION_HEADER, Long.toString(Versions.next())),
                        KafkaRows.header(KafkaRows.ORIGIN_HEADER, Long.toString(change.originUs())),
                        KafkaRows.header(QUERY_HEADER, query)));
    }

    /** A row that cannot be used. */
    InternalRow refused(Change change, String reason) {
        byte[] key = change.id() == null ? BOX : change.id().getBytes(StandardCharsets.UTF_8);
        return KafkaRows.row(
                DEADLETTER,
                key,
                json(change),
                KafkaRows.headers(
                        KafkaRows.header(KafkaRows.REASON_HEADER, "query " + query + ", box " + box + ": " + reason),
                        KafkaRows.header(KafkaRows.TOPIC_HEADER, sourceTopic)));
    }

    private byte[] json(Change change) {
        ObjectNode row = JSON.createObjectNode();
        for (Told each : told) {
            row.set(each.name, node(change.get(each.column), each.isTime));
        }
        try {
            return JSON.writeValueAsBytes(row);
        } catch (JsonProcessingException error) {
            throw new IllegalStateException(error);
        }
    }

    private static JsonNode node(Object value, boolean isTime) {
        if (value instanceof Seq<?> list) {
            ArrayNode all = JSON.createArrayNode();
            CollectionConverters.asJava(list).forEach(each -> all.add(node(each, isTime)));
            return all;
        }
        if (isTime && value instanceof Long us) {
            return JSON.getNodeFactory().textNode(Instant.EPOCH.plus(us, ChronoUnit.MICROS).toString());
        }
        return JSON.valueToTree(value);
    }
}
