package catchment.measurements;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;

/** A declared mapping, read once; catchment/registry/model.py says what its members mean. */
public final class Mapping {
    private final String id;
    private final String subject;
    private final boolean avro;
    private final Pattern streams;
    private final int literals;
    private final String fixedSensor;
    private final Path sensor;
    private final Path timestamp;
    private final String timeUnit;
    private final Map<String, Path> paths = new HashMap<>();
    private final Map<String, JsonNode> constants = new HashMap<>();

    public Mapping(JsonNode declared) {
        id = declared.path("id").asText();
        subject = declared.path("subject").asText();
        avro = declared.path("format").asText().equals("avro");
        String glob = declared.path("streams").asText();
        streams = Pattern.compile(asRegex(glob));
        literals = glob.replace("*", "").replace("?", "").length();
        fixedSensor = declared.path("sensor").path("fixed").textValue();
        sensor = Path.of(declared.path("sensor").path("field"));
        timestamp = Path.of(declared.path("timestamp").path("field"));
        timeUnit = declared.path("timestamp").path("unit").asText();
        declared.path("fields").properties().forEach(each -> {
            if (each.getValue().isTextual()) {
                paths.put(each.getKey(), Path.of(each.getValue()));
            } else {
                constants.put(each.getKey(), each.getValue().path("const"));
            }
        });
    }

    private static String asRegex(String glob) {
        String quoted = Pattern.quote(glob);
        return quoted.replace("*", "\\E.*\\Q").replace("?", "\\E.\\Q");
    }

    public String id() {
        return id;
    }

    public String subject() {
        return subject;
    }

    /** Whether the device itself writes the subject's wire format. */
    public boolean isAvro() {
        return avro;
    }

    public boolean names(String stream) {
        return streams.matcher(stream).matches();
    }

    /** Of two mappings that name a stream, the one that says more of it applies; then the first by id. */
    public boolean precedes(Mapping other) {
        return literals != other.literals ? literals > other.literals : id.compareTo(other.id) < 0;
    }

    /** The sensor of all messages; null if each message, or its stream, says which. */
    String fixedSensor() {
        return fixedSensor;
    }

    /** The member that says which sensor; null if the stream does. */
    Path sensor() {
        return sensor;
    }

    /** The member that says when; null if the record does. */
    Path timestamp() {
        return timestamp;
    }

    String timeUnit() {
        return timeUnit;
    }

    /** What an Avro field gets from a message: a constant, the member at a path, or that of its own name. */
    JsonNode valueOf(String field, JsonNode message) {
        JsonNode constant = constants.get(field);
        if (constant != null) {
            return constant;
        }
        Path path = paths.get(field);
        return path == null ? message.path(field) : path.in(message);
    }

    /** Where a member stands in nested objects, from the outside in. */
    record Path(String text, String[] steps) {
        static Path of(JsonNode declared) {
            return declared.isTextual() ? new Path(declared.asText(), declared.asText().split("\\.")) : null;
        }

        JsonNode in(JsonNode message) {
            JsonNode found = message;
            for (String step : steps) {
                found = found.path(step);
            }
            return found;
        }
    }
}
