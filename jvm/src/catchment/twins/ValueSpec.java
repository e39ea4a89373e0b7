package catchment.twins;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What a type says of one value; bounds that are not there allow everything. */
final class ValueSpec {
    private enum Kind {
        NUMBER("a number"),
        INTEGER("a whole number of 64 bits"),
        TEXT("text"),
        BOOLEAN("true or false");

        private final String words;

        Kind(String words) {
            this.words = words;
        }
    }

    final boolean required;
    private final Kind kind;
    private final double min;
    private final double max;
    private final long maxLength;
    private final List<Object> oneOf;

    ValueSpec(JsonNode declared) {
        kind = Kind.valueOf(declared.path("kind").asText().toUpperCase(Locale.ROOT));
        required = declared.path("required").asBoolean();
        min = declared.hasNonNull("min") ? declared.get("min").asDouble() : Double.NEGATIVE_INFINITY;
        max = declared.hasNonNull("max") ? declared.get("max").asDouble() : Double.POSITIVE_INFINITY;
        maxLength = declared.hasNonNull("max_length") ? declared.get("max_length").asLong() : Long.MAX_VALUE;
        oneOf = declared.hasNonNull("one_of") ? scalars(declared.get("one_of")) : null;
    }

    private static List<Object> scalars(JsonNode list) {
        List<Object> scalars = new ArrayList<>();
        for (JsonNode each : list) {
            if (each.isTextual()) {
                scalars.add(each.textValue());
            } else if (each.isBoolean()) {
                scalars.add(each.booleanValue());
            } else {
                scalars.add(each.isIntegralNumber() ? (Object) each.longValue() : (Object) each.doubleValue());
            }
        }
        return scalars;
    }

    /** A value as this kind has it, checked. */
    Object checked(String name, Object value) throws Refused {
        Object right = ofKind(name, value);
        if (right instanceof Number number) {
            checkRange(name, number);
        } else if (right instanceof String text && text.codePointCount(0, text.length()) > maxLength) {
            throw invalid(name, value, "is longer than " + maxLength + " characters");
        }
        if (oneOf != null && oneOf.stream().noneMatch(each -> Scalars.same(each, right))) {
            throw invalid(name, value, "is not one of " + oneOf);
        }
        return right;
    }

    /** What a value becomes by adding to it; one that is absent counts as 0. */
    Object sum(String name, Object before, Object addend) throws Refused {
        if (kind != Kind.NUMBER && kind != Kind.INTEGER) {
            throw invalid(name, addend, "cannot be added: it is " + kind.words);
        }
        // What is there may be of another kind: types change.
        return Sums.of(name, before == null ? null : ofKind(name, before), ofKind(name, addend));
    }

    private Object ofKind(String name, Object value) throws Refused {
        switch (kind) {
            case NUMBER:
                if (value instanceof Number number && Double.isFinite(number.doubleValue())) {
                    return number.doubleValue();
                }
                break;
            case INTEGER:
                if (value instanceof Long) {
                    return value;
                }
                if (value instanceof Double number && isWhole(number)) {
                    return number.longValue();
                }
                break;
            case TEXT:
                if (value instanceof String) {
                    return value;
                }
                break;
            default:
                if (value instanceof Boolean) {
                    return value;
                }
        }
        throw invalid(name, value, "is not " + kind.words);
    }

    /** The greatest long, as a double, is one too many. */
    private static boolean isWhole(double number) {
        return number == Math.rint(number) && number >= -0x1p63 && number < 0x1p63;
    }

    private void checkRange(String name, Number number) throws Refused {
        if (number.doubleValue() < min) {
            throw invalid(name, number, "is below the lowest that is allowed, " + min);
        }
        if (number.doubleValue() > max) {
            throw invalid(name, number, "is above the highest that is allowed, " + max);
        }
    }

    static Refused invalid(String name, Object value, String why) {
        return new Refused(Refusal.INVALID_VALUE, name + ": " + Scalars.shown(value) + " " + why);
    }
}
