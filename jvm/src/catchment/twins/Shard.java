package catchment.twins;

import catchment.records.Names;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/** What one shard of the apply step knows: the types of its site, its objects, and who sends. */
final class Shard {
    private static final ObjectMapper JSON = new ObjectMapper();

    final Map<String, TwinType> types = new HashMap<>();
    final Senders senders = new Senders();
    final Messages messages;
    final Objects objects;
    private final String prefix;

    Shard(String site, Objects objects) {
        this.objects = objects;
        this.prefix = site + "/";
        this.messages = new Messages(site);
    }

    /** Takes a declared type of this site over; a value of null takes it out. */
    void learnType(String key, byte[] value) {
        if (key.startsWith(prefix)) {
            String id = key.substring(prefix.length());
            types.remove(id);
            TwinType type = value == null ? null : parsed(value);
            if (type != null) {
                types.put(id, type);
            }
        }
    }

    /** The API, the only writer, checks what it writes. What is wrong all the same must not end the query. */
    private static TwinType parsed(byte[] value) {
        try {
            JsonNode declared = JSON.readTree(value);
            return new TwinType(declared);
        } catch (IOException | RuntimeException error) {
            return null;
        }
    }

    /** The id of an object of this site, by its key; null if it is of another. */
    String idOf(String key) {
        return key.startsWith(prefix) && Names.isName(key.substring(prefix.length()))
                ? key.substring(prefix.length())
                : null;
    }
}
