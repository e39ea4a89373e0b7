package catchment.twins;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * What a sender wants of one object, from a message on `twin-changes`.
 *
 * <p>One that cannot be read has as much as could be: enough to tell its sender, if that was among it.
 */
public final class Change {
    private static final JsonFactory JSON = 
            JsonFactory.builder()
                    .disable(JsonFactory.Feature.CHARSET_DETECTION)
                    .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
                    .build();

    private static final int LONGEST_TEXT = 1000;

    String transaction = "";
    String user = "";
    long atMs;
    boolean confirm;
    String lane = "";
    Action action = Action.CHANGE;
    String type;
    long ifVersion;
    String notify;
    final List<ValueChange> values = new ArrayList<>(4);
    Refused problem;

    private Change() {}

    /** Reads a change; one that cannot be read says why, and is refused when it is applied. */
    public static Change read(byte[] message) {
        Change change = new Change();
        try (JsonParser json = JSON.createParser(message)) {
            change.readMessage(json);
        } catch (JsonProcessingException error) {
            change.problem = Refused.malformed("it is no JSON: " + error.getOriginalMessage());
        } catch (IOException | RuntimeException error) {
            change.problem = Refused.malformed("it is no JSON: " + error.getMessage());
        } catch (Refused refused) {
            change.problem = refused;
        }
        return change;
    }

    /** What its number counts in: its source, and the lane in it, if it has several. */
    String countedIn(Senders.Sender sender) {
        return lane.isEmpty() ? sender.source() : sender.source() + " " + lane;
    }

    boolean isFromApi() {
        return user.startsWith("token/");
    }

    private void readMessage(JsonParser json) throws IOException, Refused {
        expectObject(json.nextToken(), "the message");
        boolean hasChange = false;
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            JsonToken token = json.nextToken();
            switch (name) {
                case "transaction" -> transaction = text(json, name);
                case "user" -> user = text(json, name);
                case "at_ms" -> atMs = whole(json, name);
                case "confirm" -> confirm = token == JsonToken.VALUE_TRUE;
                case "lane" -> lane = text(json, name);
                case "change" -> {
                    readChange(json);
                    hasChange = true;
                }
                default -> json.skipChildren();
            }
        }
        if (!hasChange || user.isEmpty()) {
            throw Refused.malformed("it lacks " + (hasChange ? "user" : "change"));
        }
    }

    private void readChange(JsonParser json) throws IOException, Refused {
        expectObject(json.currentToken(), "the change");
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            if (json.nextToken() != JsonToken.VALUE_NULL) {
                readMember(json, name);
            }
        }
        if (action.removes() && !values.isEmpty()) {
            throw Refused.malformed(action.text + " takes no values");
        }
    }

    private void readMember(JsonParser json, String name) throws IOException, Refused {
        switch (name) {
            case "action" -> action = Action.of(text(json, name));
            case "type" -> type = text(json, name);
            case "if_version" -> ifVersion = version(json, name);
            case "notify" -> notify = shortText(json, name);
            case "values" -> readValues(json);
            default -> throw Refused.malformed("a change has no member " + Scalars.shown(name));
        }
    }

    private void readValues(JsonParser json) throws IOException, Refused {
        expectObject(json.currentToken(), "values");
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            expectObject(json.nextToken(), name);
            values.add(readValue(json, name));
        }
    }

    private static ValueChange readValue(JsonParser json, String name) throws IOException, Refused {
        ValueChange found = null;
        for (String member = json.nextFieldName(); member != null; member = json.nextFieldName()) {
            if (json.nextToken() == JsonToken.VALUE_NULL) {
                continue;
            }
            if (found != null) {
                throw Refused.malformed(name + ": use only one of set, add and unset");
            }
            found = operation(json, name, member);
        }
        if (found == null) {
            throw Refused.malformed(name + ": use one of set, add and unset");
        }
        return found;
    }

    private static ValueChange operation(JsonParser json, String name, String member) throws IOException, Refused {
        Object operand = Scalars.read(json);
        switch (member) {
            case "set":
                if (operand == null) {
                    throw Refused.malformed(name + ": a value is text, a number, true or false");
                }
                return new ValueChange(name, ValueChange.Kind.SET, operand);
            case "add":
                if (!(operand instanceof Number)) {
                    throw Refused.malformed(name + ": only a number can be added");
                }
                return new ValueChange(name, ValueChange.Kind.ADD, operand);
            case "unset":
                if (operand != Boolean.TRUE) {
                    throw Refused.malformed(name + ": write unset as true");
                }
                return new ValueChange(name, ValueChange.Kind.UNSET, null);
            default:
                throw Refused.malformed(name + ": use one of set, add and unset");
        }
    }

    private static void expectObject(JsonToken token, String what) throws Refused {
        if (token != JsonToken.START_OBJECT) {
            throw Refused.malformed(what + " is no JSON object");
        }
    }

    private static String text(JsonParser json, String name) throws IOException, Refused {
        if (json.currentToken() != JsonToken.VALUE_STRING) {
            throw Refused.malformed(name + " is no text");
        }
        return json.getText();
    }

    private static String shortText(JsonParser json, String name) throws IOException, Refused {
        String text = text(json, name);
        if (text.codePointCount(0, text.length()) > LONGEST_TEXT) {
            throw Refused.malformed(name + " is longer than " + LONGEST_TEXT + " characters");
        }
        return text;
    }

    private static long whole(JsonParser json, String name) throws IOException, Refused {
        if (!(Scalars.read(json) instanceof Long number)) {
            throw Refused.malformed(name + " is no whole number");
        }
        return number;
    }

    private static long version(JsonParser json, String name) throws IOException, Refused {
        long number = whole(json, name);
        if (number < 1) {
            throw Refused.malformed(name + " is at least 1");
        }
        return number;
    }
}
