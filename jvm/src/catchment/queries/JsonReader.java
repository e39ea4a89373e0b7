package catchment.queries;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import scala.jdk.javaapi.CollectionConverters;

/** Reads JSON objects into columns. What is not declared is passed over; what is absent is null. */
final class JsonReader implements ContentReader {
    private static final JsonFactory FACTORY = new JsonFactory();
    private static final ObjectMapper TREES = new ObjectMapper();

    private final Map<String, Column> columns = new HashMap<>();
    private final String inside;
    private final String onlyType;
    private boolean isOfType;

    private record Column(int place, String type, ColumnKind kind, boolean isArray) {}

    /** Reads these columns, also from an object that is the field `inside`, if that is not null. */
    JsonReader(List<String> names, List<String> types, String inside) {
        this(names, types, inside, null);
    }

    /** The same, but only of objects whose field `type` is this, if that is not null. */
    JsonReader(List<String> names, List<String> types, String inside, String onlyType) {
        this.onlyType = onlyType;
        for (int place = 0; place < names.size(); place++) {
            String type = types.get(place);
            Column column = new Column(place, type, ColumnKind.of(type), ColumnKind.isArray(type));
            columns.put(names.get(place), column);
        }
        this.inside = inside;
    }

    @Override
    public boolean read(byte[] value, Object[] row, int room) throws Unreadable {
        try (JsonParser parser = FACTORY.createParser(value)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw new Unreadable("it is no JSON object");
            }
            isOfType = onlyType == null;
            readObject(parser, row, room, true);
            if (parser.nextToken() != null) {
                throw new Unreadable("there is something after the JSON object");
            }
            return isOfType;
        } catch (IOException error) {
            String first = String.valueOf(error.getMessage()).split("\n", 2)[0];
            throw new Unreadable("it is no JSON: " + first);
        }
    }

    private void readObject(JsonParser parser, Object[] row, int room, boolean isOutermost)
            throws IOException, Unreadable {
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String name = parser.currentName();
            JsonToken token = parser.nextToken();
            Column column = columns.get(name);
            if (column != null) {
                row[room + column.place] = read(parser, name, column, token);
            } else if (isOutermost && token == JsonToken.VALUE_STRING && name.equals("type")) {
                isOfType |= parser.getText().equals(onlyType);
            } else if (token == JsonToken.START_OBJECT && name.equals(inside)) {
                readObject(parser, row, room, false);
            } else {
                parser.skipChildren();
            }
        }
    }

    private static Object read(JsonParser parser, String name, Column column, JsonToken token)
            throws IOException, Unreadable {
        if (token == JsonToken.VALUE_NULL) {
            return null;
        }
        if (!column.isArray) {
            return scalar(parser, name, column, token);
        }
        if (token != JsonToken.START_ARRAY) {
            throw wrong(parser, name, column);
        }
        List<Object> elements = new ArrayList<>();
        for (JsonToken each = parser.nextToken(); each != JsonToken.END_ARRAY; each = parser.nextToken()) {
            elements.add(each == JsonToken.VALUE_NULL ? null : scalar(parser, name, column, each));
        }
        return CollectionConverters.asScala(elements).toSeq();
    }

    private static Object scalar(JsonParser parser, String name, Column column, JsonToken token)
            throws IOException, Unreadable {
        boolean whole = token == JsonToken.VALUE_NUMBER_INT;
        boolean text = token == JsonToken.VALUE_STRING;
        try {
            switch (column.kind) {
                case BOOLEAN:
                    if (token.isBoolean()) {
                        return token == JsonToken.VALUE_TRUE;
                    }
                    break;
                case INT:
                    if (whole) {
                        return parser.getIntValue();
                    }
                    break;
                case BIGINT:
                    if (whole) {
                        return parser.getLongValue();
                    }
                    break;
                case DOUBLE:
                    if (token.isNumeric()) {
                        return parser.getDoubleValue();
                    }
                    break;
                case STRING:
                    return token.isScalarValue() ? parser.getText() : TREES.readTree(parser).toString();
                case TIMESTAMP:
                    if (whole) {
                        return Math.multiplyExact(parser.getLongValue(), 1_000L);
                    }
                    if (text) {
                        return ColumnKind.timeUs(parser.getText());
                    }
                    break;
                default:
                    if (text) {
                        return parser.getBinaryValue();
                    }
            }
        } catch (IOException | ArithmeticException error) {
            throw wrong(parser, name, column);
        } catch (Unreadable error) {
            throw new Unreadable("column " + name + ": " + error.getMessage());
        }
        throw wrong(parser, name, column);
    }

    private static Unreadable wrong(JsonParser parser, String name, Column column) throws IOException {
        return new Unreadable("column " + name + ": " + parser.getText() + " is no " + column.type);
    }
}
