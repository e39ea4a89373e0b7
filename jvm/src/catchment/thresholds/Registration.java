package catchment.thresholds;

import com.fasterxml.jackson.databind.JsonNode;

/** What is registered of a sensor, as far as rules ask for it. */
public record Registration(String sensorType, String device) {
    /** Of a sensor that nobody registered. */
    public static final Registration NONE = new Registration(null, null);

    /** From an entry of the sensors' registration. */
    public static Registration fromJson(JsonNode entry) {
        return new Registration(text(entry, "sensor_type_id"), text(entry, "device_id"));
    }

    private static String text(JsonNode entry, String field) {
        JsonNode value = entry.get(field);
        return value == null || value.isNull() ? null : value.asText();
    }
}
