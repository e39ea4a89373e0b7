package twins;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;

/** What a type says of its objects, and who may change them. */
final class TwinType {
    public Map<String, ValueSpec> values = Map.of();
    public boolean open;
    public List<String> writers = List.of();
    private List<Pattern> patterns;

    /** What it says of one value. */
    static final class ValueSpec {
        public String kind;
        public boolean required;
        public Double min;
        public Double max;
        public Integer maxLength;
        public List<Object> oneOf;

        /** The value as it is kept. */
        Object check(String name, Object value) throws Refused {
            Object kept = switch (kind) {
                case "number" -> value instanceof Number number ? (Object) number.doubleValue() : null;
                case "integer" -> value instanceof Integer || value instanceof Long
                        ? (Object) ((Number) value).longValue()
                        : null;
                case "text" -> value instanceof String ? value : null;
                default -> value instanceof Boolean ? value : null;
            };
            if (kept == null || isOutside(kept)) {
                throw new Refused("invalid-value", name + " may not be " + value);
            }
            return kept;
        }

        private boolean isOutside(Object value) {
            if (value instanceof Number number) {
                double compared = number.doubleValue();
                if ((min != null && compared < min) || (max != null && compared > max)) {
                    return true;
                }
            }
            if (maxLength != null && value instanceof String text && text.length() > maxLength) {
                return true;
            }
            return oneOf != null && oneOf.stream().noneMatch(each -> same(each, value));
        }
    }

    boolean allows(String user) {
        if (patterns == null) {
            patterns = writers.stream().map(TwinType::pattern).toList();
        }
        return patterns.stream().anyMatch(each -> each.matcher(user).matches());
    }

    /** Whether nothing changes: a value that was read back may have come as another kind of number. */
    static boolean same(Object before, Object after) {
        if (before instanceof Number one && after instanceof Number other) {
            return one.doubleValue() == other.doubleValue() && one.longValue() == other.longValue();
        }
        return Objects.equals(before, after);
    }

    private static Pattern pattern(String glob) {
        return Pattern.compile(("\\Q" + glob + "\\E").replace("*", "\\E.*\\Q").replace("?", "\\E.\\Q"));
    }
}
