package catchment.twins;

import catchment.control.WaitingRoom;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

/** What one shard of the split step knows: the feeds of its site, the devices of its sensors, and schemas. */
final class Feeds {
    private static final ObjectMapper JSON = new ObjectMapper();

    final String prefix;
    final Senders senders = new Senders();
    final Splitting splitting;
    final JsonText text = new JsonText();
    final WaitingRoom.Guests guests = new WaitingRoom.Guests();
    private final Map<String, Feed> feeds = new TreeMap<>();
    private final Map<String, String> devices = new HashMap<>();
    private final Map<Integer, Measured> schemas = new HashMap<>();
    private final Map<String, Optional<Feed>> byStream = new HashMap<>();
    private final Map<String, List<Feed>> bySensor = new HashMap<>();

    Feeds(String site) {
        prefix = site + "/";
        splitting = new Splitting(site);
    }

    void learnFeed(String key, byte[] value) {
        byStream.clear();
        bySensor.clear();
        feeds.remove(key);
        if (key.startsWith(prefix)) {
            parsed(value)
                    .flatMap(entry -> understood(() -> new Feed(entry)))
                    .ifPresent(feed -> feeds.put(key, feed));
        }
    }

    void learnSensor(String key, byte[] value) {
        devices.remove(key);
        parsed(value).ifPresent(entry -> devices.put(key, entry.path("device_id").asText()));
    }

    /** Takes a schema over. One that is deleted can still be read with: there may be measurements of it. */
    void learnSchema(byte[] value) {
        parsed(value).filter(entry -> entry.hasNonNull("schema")).ifPresent(entry -> {
            int id = entry.path("id").asInt();
            Optional.ofNullable(schemas.get(id))
                    .or(() -> understood(() -> new Measured(entry.get("schema").asText())))
                    .ifPresent(measured -> {
                        measured.subjects.add(entry.path("subject").asText());
                        schemas.put(id, measured);
                    });
        });
    }

    /** The feed that names a stream, the first by its id if there are several. */
    Optional<Feed> ofStream(String stream) {
        return byStream.computeIfAbsent(
                stream, each -> feeds.values().stream().filter(feed -> feed.namesStream(each)).findFirst());
    }

    /** The feeds that name a sensor. */
    List<Feed> ofSensor(String sensor) {
        return bySensor.computeIfAbsent(
                sensor, each -> feeds.values().stream().filter(feed -> feed.namesSensor(each)).toList());
    }

    /** What reads a schema; null if it is not known. */
    Measured schema(int id) {
        return schemas.get(id);
    }

    /** The device of a sensor, by its key; null if it is not registered. */
    String device(String sensorKey) {
        return devices.get(sensorKey);
    }

    private static Optional<JsonNode> parsed(byte[] value) {
        try {
            return value == null ? Optional.empty() : Optional.of(JSON.readTree(value));
        } catch (IOException error) {
            return Optional.empty();
        }
    }

    /** The API, the only writer, checks what it writes. What is wrong all the same must not end the query. */
    private static <T> Optional<T> understood(Supplier<T> reading) {
        try {
            return Optional.of(reading.get());
        } catch (RuntimeException error) {
            return Optional.empty();
        }
    }
}
