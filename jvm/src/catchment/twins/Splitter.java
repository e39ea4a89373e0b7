package catchment.twins;

import catchment.records.Names;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.regex.Pattern;

/**
 * A message about many objects becomes one about each.
 *
 * <p>What is said of an object is copied byte for byte, without a look at its values: that is done once, where it is
 * applied. Objects that a feed makes get the feed's type, unless they say themselves what is to be done.
 */
final class Splitter {
    private static final JsonFactory JSON =
            JsonFactory.builder()
                    .disable(JsonFactory.Feature.CHARSET_DETECTION)
                    .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
                    .build();
    private static final Pattern TRANSACTION = Pattern.compile("[A-Za-z0-9._-]{1,64}");
    private static final Set<String> MAKING = Set.of("create", "put");
    // To the end of the year 9999.
    private static final long LAST_MS = 253_402_300_799_999L;

    private final byte[] site;
    private final JsonText text = new JsonText();

    Splitter(String site) {
        this.site = ("{\"site\":\"" + site + "\",\"id\":\"").getBytes(StandardCharsets.UTF_8);
    }

    /** One object's part of a message: where it stands, and what it says itself. */
    private record Part(String id, int from, int to, String action, boolean hasType) {}

    /** A message as far as it has been read. */
    private static final class Message {
        private String transaction = "";
        private String user;
        private long atMs;
        private boolean confirm;
        private List<Part> parts = List.of();
    }

    /** Gives id and change of every object to `changes`, in their order; `user` is null if the message names it. */
    void split(byte[] bytes, String user, String type, long originMs, BiConsumer<String, byte[]> changes)
            throws Malformed {
        Message message = read(bytes, user, originMs);
        text.clear().raw(ascii("\",\"transaction\":")).text(message.transaction).raw(ascii(",\"user\":"));
        text.text(message.user).raw(ascii(",\"at_ms\":")).number(message.atMs);
        text.raw(ascii(message.confirm ? ",\"confirm\":true,\"change\":" : ",\"change\":"));
        byte[] common = text.toBytes();
        for (Part part : message.parts) {
            text.clear().raw(site).raw(ascii(part.id)).raw(common);
            changes.accept(part.id, changed(bytes, part, type).raw('}').toBytes());
        }
    }

    private JsonText changed(byte[] bytes, Part part, String type) {
        if (type == null || (part.action != null && (part.hasType || !MAKING.contains(part.action)))) {
            return text.raw(bytes, part.from, part.to - part.from);
        }
        text.raw('{');
        if (part.action == null) {
            text.raw(ascii("\"action\":\"put\","));
        }
        if (!part.hasType) {
            text.raw(ascii("\"type\":")).text(type).raw(',');
        }
        // Without members of its own there is nothing that the comma would part.
        if (isEmpty(bytes, part)) {
            text.back();
        }
        return text.raw(bytes, part.from + 1, part.to - part.from - 1);
    }

    private static boolean isEmpty(byte[] bytes, Part part) {
        int place = part.from + 1;
        while (bytes[place] <= ' ' && bytes[place] >= 0) {
            place++;
        }
        return bytes[place] == '}';
    }

    private static Message read(byte[] bytes, String user, long originMs) throws Malformed {
        Message message = new Message();
        message.user = user;
        message.atMs = originMs;
        String problem;
        try (JsonParser json = JSON.createParser(bytes)) {
            problem = readMessage(json, message, user == null);
        } catch (JsonProcessingException error) {
            problem = "it is no JSON: " + error.getOriginalMessage();
        } catch (IOException | RuntimeException error) {
            problem = "it is no JSON: " + error.getMessage();
        }
        if (problem != null) {
            throw new Malformed(problem, message.transaction, message.user);
        }
        return message;
    }

    /** Reads all of it; says what is wrong, if anything is. */
    private static String readMessage(JsonParser json, Message message, boolean namesUser) throws IOException {
        if (json.nextToken() != JsonToken.START_OBJECT) {
            return "it is no JSON object";
        }
        String problem = null;
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            json.nextToken();
            String found = readMember(json, message, name, namesUser);
            problem = problem == null ? found : problem;
        }
        if (problem == null && json.nextToken() != null) {
            problem = "there is more after its end";
        }
        if (problem == null && message.transaction.isEmpty()) {
            problem = "it lacks transaction";
        }
        if (problem == null && message.user == null) {
            problem = "it lacks user";
        }
        return problem != null || !message.parts.isEmpty() ? problem : "it lacks objects";
    }

    private static String readMember(JsonParser json, Message message, String name, boolean namesUser)
            throws IOException {
        JsonToken token = json.currentToken();
        switch (name) {
            case "transaction":
                if (token != JsonToken.VALUE_STRING || !TRANSACTION.matcher(json.getText()).matches()) {
                    json.skipChildren();
                    return "transaction is to be 1 to 64 letters, digits, dots, hyphens and underscores";
                }
                message.transaction = json.getText();
                return null;
            case "user":
                if (namesUser && token == JsonToken.VALUE_STRING) {
                    message.user = json.getText();
                }
                json.skipChildren();
                return null;
            case "at_ms":
                return readTime(json, message);
            case "confirm":
                message.confirm = token == JsonToken.VALUE_TRUE;
                json.skipChildren();
                return token.isBoolean() ? null : "confirm is to be true or false";
            case "objects":
                return readObjects(json, message);
            default:
                json.skipChildren();
                return "it has no member " + Scalars.shown(name);
        }
    }

    private static String readTime(JsonParser json, Message message) throws IOException {
        if (json.currentToken() == JsonToken.VALUE_NULL) {
            return null;
        }
        Object time = Scalars.read(json);
        json.skipChildren();
        if (!(time instanceof Long ms) || ms < 0 || ms > LAST_MS) {
            return "at_ms is to be a time in ms since 1970, before the year 10000";
        }
        message.atMs = ms;
        return null;
    }

    private static String readObjects(JsonParser json, Message message) throws IOException {
        if (json.currentToken() != JsonToken.START_OBJECT) {
            json.skipChildren();
            return "objects is no JSON object";
        }
        String problem = null;
        message.parts = new ArrayList<>();
        Set<String> ids = new HashSet<>();
        for (String id = json.nextFieldName(); id != null; id = json.nextFieldName()) {
            if (!Names.isName(id) || !ids.add(id)) {
                problem = Scalars.shown(id) + (Names.isName(id) ? " is there twice" : " is no id of an object");
            }
            if (json.nextToken() != JsonToken.START_OBJECT) {
                json.skipChildren();
                problem = Scalars.shown(id) + ": what is said of an object is a JSON object";
            } else {
                message.parts.add(readPart(json, id));
            }
        }
        return problem;
    }

    private static Part readPart(JsonParser json, String id) throws IOException {
        int from = (int) json.currentTokenLocation().getByteOffset();
        String action = null;
        boolean hasType = false;
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            json.nextToken();
            action = name.equals("action") ? json.getText() : action;
            hasType |= name.equals("type");
            json.skipChildren();
        }
        return new Part(id, from, (int) json.currentLocation().getByteOffset(), action, hasType);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
