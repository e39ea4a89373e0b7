package catchment.measurements;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;

/**
 * JSON to Avro by a schema: nothing is guessed, and nothing loses more than a number's last digits.
 *
 * <p>Whole numbers may be written as 25 or 25.0. Text is never a number. Of a union the first branch that takes
 * the value counts. Bytes are text of characters 0 to 255, as Avro itself writes them in JSON.
 */
final class Conversion {
    private static final int SHOWN = 60;

    private Conversion() {}

    static Object toAvro(Schema schema, JsonNode value) throws Unmappable {
        return switch (schema.getType()) {
            case NULL -> nothing(value);
            case BOOLEAN -> truth(value);
            case INT -> (int) whole(value, Integer.MIN_VALUE, Integer.MAX_VALUE);
            case LONG -> whole(value, Long.MIN_VALUE, Long.MAX_VALUE);
            case FLOAT -> (float) real(value, Float.MAX_VALUE);
            case DOUBLE -> real(value, Double.MAX_VALUE);
            case STRING -> text(value, "text");
            case ENUM -> symbol(schema, value);
            case BYTES -> ByteBuffer.wrap(bytes(value));
            case FIXED -> fixed(schema, value);
            case ARRAY -> array(schema, value);
            case MAP -> map(schema, value);
            case RECORD -> record(schema, value);
            case UNION -> branch(schema, value);
        };
    }

    /** The value of a field: from its member, or where that is missing its default, or null if that may be. */
    static Object ofField(Schema.Field field, JsonNode value) throws Unmappable {
        try {
            if (!value.isMissingNode()) {
                return toAvro(field.schema(), value);
            }
            if (field.hasDefaultValue()) {
                return GenericData.get().getDefaultValue(field);
            }
            if (field.schema().isNullable()) {
                return null;
            }
            throw new Unmappable("is missing");
        } catch (Unmappable why) {
            throw why.in("field " + field.name());
        }
    }

    /** A value in a message to people, cut if it is long. */
    static String shown(JsonNode value) {
        String text = value.toString();
        return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "…";
    }

    private static Unmappable isNot(JsonNode value, String wanted) {
        return new Unmappable(shown(value) + " is not " + wanted);
    }

    private static Object nothing(JsonNode value) throws Unmappable {
        if (!value.isNull()) {
            throw isNot(value, "null");
        }
        return null;
    }

    private static boolean truth(JsonNode value) throws Unmappable {
        if (!value.isBoolean()) {
            throw isNot(value, "true or false");
        }
        return value.booleanValue();
    }

    private static long whole(JsonNode value, long least, long most) throws Unmappable {
        if (!isWhole(value)) {
            throw isNot(value, "a whole number");
        }
        if (!fitsLong(value) || value.longValue() < least || value.longValue() > most) {
            throw isNot(value, "between " + least + " and " + most);
        }
        return value.longValue();
    }

    private static boolean isWhole(JsonNode value) {
        return value.isIntegralNumber()
                || (value.isFloatingPointNumber() && value.doubleValue() == Math.rint(value.doubleValue()));
    }

    /** The greatest long, as a double, is one too many. */
    private static boolean fitsLong(JsonNode value) {
        return value.canConvertToLong() && (value.isIntegralNumber() || value.doubleValue() < 0x1p63);
    }

    private static double real(JsonNode value, double most) throws Unmappable {
        if (!value.isNumber()) {
            throw isNot(value, "a number");
        }
        if (Math.abs(value.doubleValue()) > most) {
            throw isNot(value, "between -" + most + " and " + most);
        }
        return value.doubleValue();
    }

    private static String text(JsonNode value, String wanted) throws Unmappable {
        if (!value.isTextual()) {
            throw isNot(value, wanted);
        }
        return value.textValue();
    }

    private static Object symbol(Schema schema, JsonNode value) throws Unmappable {
        if (!value.isTextual() || !schema.hasEnumSymbol(value.textValue())) {
            throw isNot(value, "one of " + schema.getEnumSymbols());
        }
        return new GenericData.EnumSymbol(schema, value.textValue());
    }

    private static byte[] bytes(JsonNode value) throws Unmappable {
        String wanted = "text of characters 0 to 255";
        String text = text(value, wanted);
        if (text.chars().anyMatch(each -> each > 255)) {
            throw isNot(value, wanted);
        }
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static Object fixed(Schema schema, JsonNode value) throws Unmappable {
        byte[] bytes = bytes(value);
        if (bytes.length != schema.getFixedSize()) {
            throw isNot(value, schema.getFixedSize() + " bytes long");
        }
        return new GenericData.Fixed(schema, bytes);
    }

    private static Object array(Schema schema, JsonNode value) throws Unmappable {
        if (!value.isArray()) {
            throw isNot(value, "a list");
        }
        List<Object> items = new ArrayList<>(value.size());
        for (JsonNode item : value) {
            items.add(toAvro(schema.getElementType(), item));
        }
        return items;
    }

    private static Object map(Schema schema, JsonNode value) throws Unmappable {
        Map<String, Object> members = new HashMap<>();
        for (Map.Entry<String, JsonNode> member : object(value).properties()) {
            members.put(member.getKey(), toAvro(schema.getValueType(), member.getValue()));
        }
        return members;
    }

    private static Object record(Schema schema, JsonNode value) throws Unmappable {
        GenericData.Record record = new GenericData.Record(schema);
        for (Schema.Field field : schema.getFields()) {
            record.put(field.pos(), ofField(field, object(value).path(field.name())));
        }
        return record;
    }

    private static JsonNode object(JsonNode value) throws Unmappable {
        if (!value.isObject()) {
            throw isNot(value, "an object");
        }
        return value;
    }

    private static Object branch(Schema union, JsonNode value) throws Unmappable {
        Unmappable last = null;
        for (Schema branch : union.getTypes()) {
            try {
                return toAvro(branch, value);
            } catch (Unmappable why) {
                last = branch.getType() == Schema.Type.NULL && last != null ? last : why;
            }
        }
        // Of something or null, what the something has against it says more.
        throw union.getTypes().size() == 2 && union.isNullable() ? last : isNot(value, "of any type of " + union);
    }
}
