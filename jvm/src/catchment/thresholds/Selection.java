package catchment.thresholds;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.regex.Pattern;

/** Which sensors a rule is about: patterns with {@code *} and {@code ?}, of which absent ones match all. */
public record Selection(Pattern sensor, Pattern sensorType, Pattern device, Pattern site) {
    /** From a rule's {@code select}. */
    public static Selection fromJson(JsonNode select) {
        return new Selection(
                pattern(select.get("sensor")),
                pattern(select.get("sensor_type")),
                pattern(select.get("device")),
                pattern(select.get("site")));
    }

    /** Whether a sensor is meant; one that is not registered has no type and no device. */
    public boolean matches(String sensorSite, String sensorId, Registration registration) {
        return matches(sensor, sensorId)
                && matches(site, sensorSite)
                && matches(sensorType, registration.sensorType())
                && matches(device, registration.device());
    }

    private static boolean matches(Pattern pattern, String name) {
        return pattern == null || (name != null && pattern.matcher(name).matches());
    }

    private static Pattern pattern(JsonNode glob) {
        if (glob == null || glob.isNull()) {
            return null;
        }
        // Names have no characters that a pattern gives a meaning to, except for the dot.
        String expression = glob.asText().replace(".", "\\.").replace("*", ".*").replace("?", ".");
        return Pattern.compile(expression);
    }
}
