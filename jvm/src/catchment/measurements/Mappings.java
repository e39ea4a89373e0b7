package catchment.measurements;

import catchment.records.Stamp;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** What a shard knows: the mappings and schemas of its site, and which mapping each stream has. */
final class Mappings {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Subjects subjects = new Subjects();
    final Mapper mapper = new Mapper(subjects);
    /** Those known to have been seen: a look at the state less for each measurement. */
    final Set<String> sensors = new HashSet<>();
    private final String site;
    private final Map<String, Mapping> mappings = new HashMap<>();
    private final Map<String, Optional<Mapped>> byIdentity = new HashMap<>();

    /** A stream with the mapping that names it. */
    record Mapped(String stream, Mapping mapping) {}

    Mappings(String site) {
        this.site = site;
    }

    void learnMapping(String key, byte[] value) {
        JsonNode declared = ownEntry(value);
        if (declared == null) {
            mappings.remove(key);
        } else {
            mappings.put(key, new Mapping(declared));
        }
        byIdentity.clear();
    }

    void learnSchema(String key, byte[] value) {
        subjects.learn(key, ownEntry(value));
    }

    /** Entries of other sites, and what is no entry at all, do not count. */
    private JsonNode ownEntry(byte[] value) {
        try {
            JsonNode entry = value == null ? null : JSON.readTree(value);
            return entry != null && entry.path("site").asText().equals(site) ? entry : null;
        } catch (IOException error) {
            return null;
        }
    }

    /** The stream that a source is, and its mapping; nothing for other sites and for what no mapping names. */
    Optional<Mapped> of(String identity) {
        return byIdentity.computeIfAbsent(identity, this::find);
    }

    private Optional<Mapped> find(String identity) {
        String stream = Stamp.streamAt(site, identity);
        if (stream == null) {
            return Optional.empty();
        }
        return mappings.values().stream()
                .filter(each -> each.names(stream))
                .reduce((one, other) -> one.precedes(other) ? one : other)
                .map(mapping -> new Mapped(stream, mapping));
    }
}
