package catchment.measurements;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;

/** The schemas of a site by subject: the latest version to write with, and each by its id to read with. */
public final class Subjects {
    static final String SENSOR = "sensor_id";
    static final String TIMESTAMP = "timestamp";

    private final Map<String, Version> versions = new HashMap<>();
    private final Map<String, Optional<Version>> latest = new HashMap<>();
    private final Map<Integer, List<Version>> byId = new HashMap<>();

    /** A registered version; one that cannot be used for measurements says why. */
    public record Version(String subject, int number, int id, boolean deleted, Schema schema, String problem) {
        Schema usable() throws Unmappable {
            if (problem != null) {
                throw new Unmappable("version " + number + " of subject " + subject + " " + problem);
            }
            return schema;
        }
    }

    /** Takes an entry of the topic; null takes it out. What is no schema, a setting for one, is passed over. */
    public void learn(String key, JsonNode entry) {
        if (entry == null || !entry.hasNonNull("schema")) {
            versions.remove(key);
        } else {
            versions.put(key, versionOf(entry));
        }
        latest.clear();
        byId.clear();
    }

    /** The version that measurements of a subject are written with. */
    public Version latest(String subject) throws Unmappable {
        Optional<Version> found = latest.computeIfAbsent(subject, this::newest);
        return found.orElseThrow(() -> new Unmappable("subject " + subject + " has no schema"));
    }

    private Optional<Version> newest(String subject) {
        return versions.values().stream()
                .filter(each -> each.subject().equals(subject) && !each.deleted())
                .max(Comparator.comparingInt(Version::number));
    }

    /** The version of a subject that has an id; one that was deleted can still be read. */
    public Version byId(String subject, int id) throws Unmappable {
        for (Version each : byId.computeIfAbsent(id, this::withId)) {
            if (each.subject().equals(subject)) {
                return each;
            }
        }
        throw new Unmappable("no schema of subject " + subject + " has the id " + Integer.toUnsignedString(id));
    }

    private List<Version> withId(int id) {
        return versions.values().stream().filter(each -> each.id() == id).toList();
    }

    private static Version versionOf(JsonNode entry) {
        Schema schema = null;
        String problem;
        try {
            schema = new Schema.Parser().parse(entry.path("schema").asText());
            problem = problemOf(schema);
        } catch (AvroRuntimeException error) {
            problem = "cannot be read: " + error.getMessage();
        }
        return new Version(
                entry.path("subject").asText(),
                entry.path("version").asInt(),
                entry.path("id").asInt(),
                entry.path("deleted").asBoolean(),
                schema,
                problem);
    }

    private static String problemOf(Schema schema) {
        if (schema.getType() != Schema.Type.RECORD) {
            return "is no record";
        }
        if (!has(schema, SENSOR, Schema.Type.STRING)) {
            return "lacks the field " + SENSOR + " of type string";
        }
        if (!has(schema, TIMESTAMP, Schema.Type.LONG)) {
            return "lacks the field " + TIMESTAMP + " of type long";
        }
        return schema.getFields().size() > 2 ? null : "has no field for what is measured";
    }

    private static boolean has(Schema schema, String field, Schema.Type type) {
        return schema.getField(field) != null && schema.getField(field).schema().getType() == type;
    }
}
