package catchment.thresholds;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * A declared rule: its terms, the sensors that it is about, and when it speaks.
 *
 * <p>{@code lastingEveryMs} of zero: nothing is said while a transgression lasts.
 */
public record Rule(
        RuleKey key,
        Terms terms,
        Selection selection,
        long minDurationMs,
        long lastingEveryMs) {
    private static final double MS = 1000;

    /** From an entry of the rules' topic. */
    public static Rule fromJson(JsonNode entry) {
        return new Rule(
                new RuleKey(entry.get("site").asText(), entry.get("id").asText()),
                termsOf(entry),
                Selection.fromJson(entry.path("select")),
                Math.round(entry.path("min_duration_s").asDouble(0) * MS),
                Math.round(entry.path("lasting_every_s").asDouble(0) * MS));
    }

    private static Terms termsOf(JsonNode entry) {
        boolean above = entry.hasNonNull("above");
        return new Terms(
                entry.get("version").asLong(),
                entry.get("field").asText(),
                above ? Direction.ABOVE : Direction.BELOW,
                entry.get(above ? "above" : "below").asDouble(),
                entry.path("hysteresis").asDouble(0),
                entry.hasNonNull("unit") ? entry.get("unit").asText() : Units.UNKNOWN);
    }
}
