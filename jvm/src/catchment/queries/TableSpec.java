package catchment.queries;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a join with a table is asked for: catchment/queries/frames/tables.py writes it. Columns are given by their
 * places; `on` are places among the table's columns.
 *
 * @param offsetColumn the place of an entry's offset in its topic, which rows of the stream do not have
 * @param atStart the entries that were there when the query started
 * @param generation another one at every start
 * @param type the type of twins that the table has; null if it is none of twins
 */
record TableSpec(
        int offsetColumn,
        int entryColumn,
        int firstKey,
        int[] on,
        int firstLeft,
        int lefts,
        List<String> names,
        List<String> types,
        String type,
        boolean outer,
        long generation,
        Map<String, Stored> atStart) {
    /** An entry with its place in the topic; without a value if it was removed. */
    record Stored(long offset, byte[] value) {}

    static TableSpec of(JsonNode spec) {
        int[] on = new int[spec.get("on").size()];
        for (int each = 0; each < on.length; each++) {
            on[each] = spec.get("on").get(each).asInt();
        }
        return new TableSpec(
                spec.get("offset_column").asInt(),
                spec.get("entry_column").asInt(),
                spec.get("first_key").asInt(),
                on,
                spec.get("first_left").asInt(),
                spec.get("lefts").asInt(),
                texts(spec.get("names")),
                texts(spec.get("types")),
                spec.path("type").asText(null),
                spec.get("outer").asBoolean(),
                spec.get("generation").asLong(),
                entries(spec.get("at_start")));
    }

    private static Map<String, Stored> entries(JsonNode node) {
        Map<String, Stored> entries = new HashMap<>();
        for (Map.Entry<String, JsonNode> each : node.properties()) {
            byte[] value = each.getValue().get(1).asText().getBytes(StandardCharsets.UTF_8);
            entries.put(each.getKey(), new Stored(each.getValue().get(0).asLong(), value));
        }
        return entries;
    }

    private static List<String> texts(JsonNode array) {
        List<String> texts = new ArrayList<>();
        array.forEach(each -> texts.add(each.asText()));
        return texts;
    }
}
