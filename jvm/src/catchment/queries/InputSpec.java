package catchment.queries;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * What an input reads: catchment/queries/inputs.py writes it.
 *
 * @param edge the edge that its rows are on
 * @param kind where its messages come from: records, measurements, results …
 * @param format what they contain: json, text or avro
 * @param selector the pattern of streams, or the output of a query
 * @param first the place of its first column among all columns of all inputs
 * @param added columns that Catchment adds, after those of the content: origin, site, stream
 */
record InputSpec(
        String query,
        String input,
        int edge,
        String topic,
        String kind,
        String format,
        String selector,
        List<String> names,
        List<String> types,
        List<String> added,
        int first,
        String inside,
        boolean keepsRepeats,
        Map<Integer, String> schemas) {
    static InputSpec of(JsonNode spec) {
        Map<Integer, String> schemas = new HashMap<>();
        for (Map.Entry<String, JsonNode> each : spec.path("schemas").properties()) {
            schemas.put(Integer.parseInt(each.getKey()), each.getValue().asText());
        }
        return new InputSpec(
                spec.get("query").asText(),
                spec.get("input").asText(),
                spec.get("edge").asInt(),
                spec.get("topic").asText(),
                spec.get("kind").asText(),
                spec.get("format").asText(),
                spec.get("selector").asText(),
                texts(spec.get("names")),
                texts(spec.get("types")),
                texts(spec.get("added")),
                spec.get("first").asInt(),
                spec.path("inside").asText(null),
                spec.path("keeps_repeats").asBoolean(),
                schemas);
    }

    private static List<String> texts(JsonNode array) {
        List<String> texts = new ArrayList<>();
        array.forEach(each -> texts.add(each.asText()));
        return texts;
    }

    ContentReader reader() {
        return switch (format) {
            case "json" -> new JsonReader(names, types, inside, kind.equals("twin-history") ? selector : null);
            case "avro" -> new AvroReader(names, types, selector, schemas);
            default -> InputSpec::text;
        };
    }

    private static boolean text(byte[] value, Object[] row, int room) {
        row[room] = new String(value, StandardCharsets.UTF_8);
        return true;
    }

    /** The pattern of streams; names have no characters that it gives a meaning to, except for the dot. */
    Pattern streams() {
        return Pattern.compile(selector.replace(".", "\\.").replace("*", ".*").replace("?", "."));
    }
}
