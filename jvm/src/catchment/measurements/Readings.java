package catchment.measurements;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Collection;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.IndexedRecord;

/** The first measurement of a sensor as people see it: an entry of `sensor-seen`, in JSON. */
final class Readings {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private Readings() {}

    static byte[] seen(String site, String subject, String stream, Measurement first) {
        ObjectNode entry = NODES.objectNode()
                .put("site", site)
                .put("id", first.sensor())
                .put("subject", subject)
                .put("stream", stream)
                .put("first_ms", first.timestampMs());
        ObjectNode reading = entry.putObject("first_reading");
        reading.setAll((ObjectNode) toJson(first.record()));
        reading.remove(Subjects.SENSOR);
        reading.remove(Subjects.TIMESTAMP);
        try {
            return JSON.writeValueAsBytes(entry);
        } catch (JsonProcessingException error) {
            throw new IllegalStateException(error);
        }
    }

    private static JsonNode toJson(Object value) {
        if (value instanceof IndexedRecord record) {
            ObjectNode members = NODES.objectNode();
            for (Schema.Field field : record.getSchema().getFields()) {
                members.set(field.name(), toJson(record.get(field.pos())));
            }
            return members;
        }
        if (value instanceof Map<?, ?> map) {
            ObjectNode members = NODES.objectNode();
            map.forEach((name, each) -> members.set(name.toString(), toJson(each)));
            return members;
        }
        if (value instanceof Collection<?> items) {
            ArrayNode list = NODES.arrayNode();
            items.forEach(each -> list.add(toJson(each)));
            return list;
        }
        return scalar(value);
    }

    private static JsonNode scalar(Object value) {
        if (value == null) {
            return NODES.nullNode();
        }
        if (value instanceof Boolean truth) {
            return NODES.booleanNode(truth);
        }
        if (value instanceof Integer || value instanceof Long) {
            return NODES.numberNode(((Number) value).longValue());
        }
        if (value instanceof Float number) {
            return NODES.numberNode(number);
        }
        return value instanceof Double number ? NODES.numberNode(number) : NODES.textNode(value.toString());
    }
}
