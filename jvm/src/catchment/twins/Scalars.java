package catchment.twins;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;

/** Values of objects: Boolean, Long, Double or String. */
final class Scalars {
    private static final int SHOWN = 60;

    private Scalars() {}

    /** The value at a parser's place; null if it is none. A whole number beyond 64 bits is a Double. */
    static Object read(JsonParser json) throws IOException {
        return switch (json.currentToken()) {
            case VALUE_STRING -> json.getText();
            case VALUE_NUMBER_INT -> wholeNumber(json);
            case VALUE_NUMBER_FLOAT -> json.getDoubleValue();
            case VALUE_TRUE -> Boolean.TRUE;
            case VALUE_FALSE -> Boolean.FALSE;
            default -> null;
        };
    }

    private static Object wholeNumber(JsonParser json) throws IOException {
        if (json.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
            return json.getDoubleValue();
        }
        return json.getLongValue();
    }

    static boolean isNull(JsonToken token) {
        return token == JsonToken.VALUE_NULL;
    }

    /** Whether two values are the same to people: 21 and 21.0 are. */
    static boolean same(Object one, Object other) {
        if (one instanceof Number a && other instanceof Number b) {
            return sameNumber(a, b);
        }
        return one == null ? other == null : one.equals(other);
    }

    private static boolean sameNumber(Number one, Number other) {
        if (one instanceof Long a && other instanceof Long b) {
            return a.longValue() == b.longValue();
        }
        if (one instanceof Double a && other instanceof Double b) {
            return a.doubleValue() == b.doubleValue();
        }
        // As doubles, two long numbers could look alike that are not.
        return one.doubleValue() == other.doubleValue() && one.longValue() == other.longValue();
    }

    /** A value in a message to people, cut if it is long. */
    static String shown(Object value) {
        String text = value instanceof String string ? "\"" + string + "\"" : String.valueOf(value);
        return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "…";
    }
}
