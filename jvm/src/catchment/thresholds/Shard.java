package catchment.thresholds;

import catchment.control.InUse;
import catchment.control.WaitingRoom;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** The sensors of one shard, and what is declared as far as it needs that: rules, registrations, types and schemas. */
public final class Shard {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Map<String, List<Event>> told;
    private final InUse<Sensor> sensors;
    private final WaitingRoom.Guests guests = new WaitingRoom.Guests();
    private final Map<RuleKey, Rule> rules = new TreeMap<>();
    private final Map<String, Registration> registrations = new HashMap<>();
    private final Map<String, String> unitsByType = new HashMap<>();
    private final Map<Integer, Decoder> decoders = new HashMap<>();
    private final Map<String, List<Rule>> rulesBySensor = new HashMap<>();

    public Shard(Map<String, List<Event>> told, InUse<Sensor> sensors) {
        this.told = told;
        this.sensors = sensors;
    }

    /** What is kept of the sensors that a rule is about. */
    InUse<Sensor> sensors() {
        return sensors;
    }

    /** Who waits for a schema. */
    WaitingRoom.Guests guests() {
        return guests;
    }

    /** The sensors of which something was told after the last checkpoint, by their keys. */
    public Set<String> toldOf() {
        return told.keySet();
    }

    /** What was told of a sensor after the last checkpoint, by some rules. */
    public List<Event> told(String sensorKey, Predicate<RuleKey> byRules) {
        return told.getOrDefault(sensorKey, List.of()).stream()
                .filter(event -> byRules.test(event.rule()))
                .toList();
    }

    /** Whether a rule told something of a sensor after the last checkpoint under other terms than now. */
    public boolean hasChanged(String sensorKey, RuleKey ruleKey) {
        Rule rule = ruleFor(sensorKey, ruleKey);
        return told(sensorKey, ruleKey::equals).stream()
                .anyMatch(event -> rule == null || !rule.terms().equals(event.terms()));
    }

    /** Takes an entry of the rules' topic over; a value of null takes the rule out. */
    public void learnRule(String key, byte[] value) {
        rulesBySensor.clear();
        rules.remove(RuleKey.parse(key));
        parsed(value)
                .filter(entry -> entry.path("enabled").asBoolean(true))
                .flatMap(entry -> understood(() -> Rule.fromJson(entry)))
                .ifPresent(rule -> rules.put(rule.key(), rule));
    }

    /** Takes an entry of the sensors' registration over. */
    public void learnSensor(String key, byte[] value) {
        rulesBySensor.remove(key);
        registrations.remove(key);
        parsed(value).ifPresent(entry -> registrations.put(key, Registration.fromJson(entry)));
    }

    /** Takes an entry of the registration of sensor types over. */
    public void learnType(String key, byte[] value) {
        unitsByType.put(key, parsed(value).map(entry -> entry.path("unit").asText()).orElse(Units.UNKNOWN));
    }

    /** Takes a schema over. One that is deleted can still be read with: there may be measurements of it. */
    public void learnSchema(byte[] value) {
        parsed(value).filter(entry -> entry.hasNonNull("schema")).ifPresent(this::learnSchema);
    }

    private void learnSchema(JsonNode entry) {
        String subject = entry.path("subject").asText();
        Decoder known = decoders.get(entry.path("id").asInt());
        // Several subjects may have the same schema: whichever is heard first, the same name is told.
        if (known == null || subject.compareTo(known.subject()) < 0) {
            understood(() -> new Decoder(subject, entry.get("schema").asText()))
                    .ifPresent(decoder -> decoders.put(entry.path("id").asInt(), decoder));
        }
    }

    /** The rules that are about a sensor, by its key. */
    public List<Rule> rulesFor(String sensorKey) {
        return rulesBySensor.computeIfAbsent(sensorKey, this::select);
    }

    /** A rule as it is now, if it is about a sensor; else null. */
    public Rule ruleFor(String sensorKey, RuleKey ruleKey) {
        Rule rule = rules.get(ruleKey);
        return rule != null && isAbout(rule, sensorKey) ? rule : null;
    }

    /** The decoder of a schema; null if it is not known. */
    public Decoder decoder(int schemaId) {
        return decoders.get(schemaId);
    }

    /** The unit of a sensor's type. */
    public String usualUnit(String sensorKey) {
        String type = registration(sensorKey).sensorType();
        return type == null
                ? Units.UNKNOWN
                : unitsByType.getOrDefault(siteOf(sensorKey) + "/" + type, Units.UNKNOWN);
    }

    /** The site of a sensor, by its key. */
    public static String siteOf(String sensorKey) {
        return sensorKey.substring(0, sensorKey.indexOf('/'));
    }

    /** The id of a sensor, by its key. */
    public static String idOf(String sensorKey) {
        return sensorKey.substring(sensorKey.indexOf('/') + 1);
    }

    private List<Rule> select(String sensorKey) {
        return rules.values().stream().filter(rule -> isAbout(rule, sensorKey)).toList();
    }

    private boolean isAbout(Rule rule, String sensorKey) {
        return rule.selection().matches(siteOf(sensorKey), idOf(sensorKey), registration(sensorKey));
    }

    private Registration registration(String sensorKey) {
        return registrations.getOrDefault(sensorKey, Registration.NONE);
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
