package catchment.measurements;

import catchment.records.Names;
import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.TemporalAccessor;

/** Which sensor a message is of, and when it was measured. */
final class Derivation {
    // From the year 1 to the end of 9999: what is outside was read in the wrong unit, and no store takes it.
    private static final long FIRST_MS = -62_135_596_800_000L;
    private static final long LAST_MS = 253_402_300_799_999L;

    private Derivation() {}

    static String sensor(Mapping mapping, String stream, JsonNode message) throws Unmappable {
        if (mapping.fixedSensor() != null) {
            return mapping.fixedSensor();
        }
        if (mapping.sensor() == null) {
            return named("stream", stream);
        }
        JsonNode found = found(message, mapping.sensor());
        String where = "member " + mapping.sensor().text();
        if (!found.isTextual() && !found.isIntegralNumber()) {
            throw new Unmappable(where + ": " + Conversion.shown(found) + " is no id of a sensor");
        }
        return named(where, found.asText());
    }

    static long timestampMs(Mapping mapping, long originUs, JsonNode message) throws Unmappable {
        if (mapping.timestamp() == null) {
            return Math.floorDiv(originUs, 1000L);
        }
        JsonNode found = found(message, mapping.timestamp());
        try {
            return mapping.timeUnit().equals("iso8601") ? checked(ofText(found)) : inMs(found, mapping.timeUnit());
        } catch (Unmappable why) {
            throw why.in("member " + mapping.timestamp().text());
        }
    }

    static long checked(long timestampMs) throws Unmappable {
        if (timestampMs < FIRST_MS || timestampMs > LAST_MS) {
            throw new Unmappable("the time " + timestampMs + " ms is not in the years 1 to 9999");
        }
        return timestampMs;
    }

    private static String named(String where, String sensor) throws Unmappable {
        if (!Names.isName(sensor)) {
            throw new Unmappable(where + ": \"" + sensor + "\" is no id of a sensor");
        }
        return sensor;
    }

    private static JsonNode found(JsonNode message, Mapping.Path path) throws Unmappable {
        JsonNode found = path.in(message);
        if (found.isMissingNode()) {
            throw new Unmappable("member " + path.text() + " is missing");
        }
        return found;
    }

    private static long inMs(JsonNode value, String unit) throws Unmappable {
        if (!value.isNumber() || Double.isInfinite(value.doubleValue())) {
            throw new Unmappable(Conversion.shown(value) + " is not a number");
        }
        int digits = unit.equals("s") ? 3 : unit.equals("us") ? -3 : 0;
        BigDecimal inMs = value.decimalValue().scaleByPowerOfTen(digits).setScale(0, RoundingMode.FLOOR);
        if (inMs.compareTo(BigDecimal.valueOf(FIRST_MS)) < 0 || inMs.compareTo(BigDecimal.valueOf(LAST_MS)) > 0) {
            throw new Unmappable(Conversion.shown(value) + " " + unit + " is not in the years 1 to 9999");
        }
        return inMs.longValue();
    }

    /** A time without a zone is meant in UTC. */
    private static long ofText(JsonNode value) throws Unmappable {
        try {
            TemporalAccessor time = DateTimeFormatter.ISO_DATE_TIME.parseBest(
                    value.textValue() == null ? "" : value.textValue(), OffsetDateTime::from, LocalDateTime::from);
            return time instanceof OffsetDateTime exact
                    ? exact.toInstant().toEpochMilli()
                    : ((LocalDateTime) time).toInstant(ZoneOffset.UTC).toEpochMilli();
        } catch (DateTimeException error) {
            throw new Unmappable(Conversion.shown(value) + " is no time as ISO 8601 writes it");
        }
    }
}
