package catchment.twins;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

/** Where changes come from: records of some streams, or measurements of some sensors. */
final class Feed {
    final String id;
    final String user;
    /** Of objects that are made; null if none are. */
    final String type;

    final String subject;
    /** Names of values, with the field that each comes from; empty if every field is a value. */
    final Map<String, String> values = new LinkedHashMap<>();

    private final Pattern streams;
    private final Pattern sensors;
    private final String object;

    Feed(JsonNode declared) {
        JsonNode source = declared.path("source");
        id = declared.path("id").asText();
        user = "feed/" + id;
        type = declared.hasNonNull("type") ? declared.get("type").asText() : null;
        streams = source.hasNonNull("streams") ? Globs.one(source.get("streams").asText()) : null;
        subject = source.path("subject").asText();
        sensors = streams == null ? Globs.one(source.path("sensor").asText("*")) : null;
        object = source.path("object").asText("{sensor}");
        source.path("values").properties().forEach(each -> values.put(each.getKey(), each.getValue().asText()));
    }

    boolean namesStream(String stream) {
        return streams != null && streams.matcher(stream).matches();
    }

    boolean namesSensor(String sensor) {
        return sensors != null && sensors.matcher(sensor).matches();
    }

    /** The id of the object that a sensor's measurements go to; null if it needs a device and there is none. */
    String objectOf(String sensor, String device) {
        if (device == null && object.contains("{device}")) {
            return null;
        }
        return object.replace("{sensor}", sensor).replace("{device}", device == null ? "" : device);
    }
}
