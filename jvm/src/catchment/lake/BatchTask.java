package catchment.lake;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.parquet.io.api.Binary;
import org.apache.spark.sql.catalyst.InternalRow;

/** Writes the rows of one partition of a batch to files of their tables, and reports on them. */
final class BatchTask {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int MOST_OPEN_FILES = 64;

    private final JsonNode plan;
    private final Sources sources;
    private final Map<String, Rows> byTopic = new HashMap<>();
    private final Map<String, Rows> bySchema = new HashMap<>();
    private final Rows letters;
    private final Map<String, Tracks> tracks = new LinkedHashMap<>();
    private final Map<String, TableFile> open = new LinkedHashMap<>();
    private final Map<String, ObjectNode> headings = new HashMap<>();
    private final Set<Integer> givenUp = new HashSet<>();
    private final Set<Integer> unknownSchemas = new HashSet<>();
    private final ObjectNode report = JSON.createObjectNode();
    private final ArrayNode files = report.putArray("files");
    private Target last;

    /** The file of a layout's rows of one day. */
    private record Target(Layout layout, LocalDate day, boolean suspect, TableFile file) {}

    BatchTask(String planText) throws IOException {
        plan = JSON.readTree(planText);
        sources = new Sources(plan.get("identity_pattern").asText());
        plan.get("topics").properties().forEach(topic -> byTopic.put(topic.getKey(), rows(topic.getValue(), null)));
        plan.get("given_up").forEach(id -> givenUp.add(id.asInt()));
        letters = rows(plan.get("letters"), null);
    }

    /** Takes all rows, closes all files, and gives the report as JSON. Stops at a schema that it does not know. */
    String run(Iterator<InternalRow> batch) throws IOException {
        // Without a schema that may be found, all of this will be done again.
        while (batch.hasNext() && unknownSchemas.isEmpty()) {
            Entry entry = new Entry(batch.next(), sources);
            try {
                store(entry);
            } catch (Unstorable reason) {
                refuse(entry, reason.getMessage());
            }
        }
        closeFiles();
        ObjectNode tables = report.putObject("tracks");
        tracks.forEach((table, of) -> of.report(tables.putArray(table)));
        ArrayNode unknown = report.putArray("unknown_schemas");
        unknownSchemas.forEach(unknown::add);
        return JSON.writeValueAsString(report);
    }

    private void store(Entry entry) throws IOException, Unstorable {
        Rows rows = byTopic.get(entry.topic());
        if (rows == null) {
            rows = rowsOf(entry.topic(), Rows.schemaId(entry.value()));
        } else if (rows.layout.needsStamp() && !entry.isStamped()) {
            // The ledger has put it to the dead letters.
            return;
        }
        Rows.Dated row = rows.of(entry);
        Layout layout = rows.layout;
        long number = (Long) row.values()[layout.number()];
        boolean isNew = tracks.computeIfAbsent(layout.table(), unused -> new Tracks())
                .advance(rows.track(row.values()), number, row.timeMs() * 1000, layout.counted());
        write(layout, row, !isNew);
    }

    private Rows rowsOf(String topic, int schemaId) throws Unstorable {
        String name = topic + "/" + schemaId;
        Rows known = bySchema.get(name);
        if (known == null) {
            JsonNode layout = plan.get("schemas").get(name);
            if (layout == null) {
                if (!givenUp.contains(schemaId)) {
                    unknownSchemas.add(schemaId);
                }
                throw new Unstorable("no schema has the id " + schemaId);
            }
            if (layout.has("refusal")) {
                throw new Unstorable(layout.get("refusal").asText());
            }
            known = rows(layout, new Fields(layout.get("schema").asText()));
            bySchema.put(name, known);
        }
        return known;
    }

    private Rows rows(JsonNode layout, Fields fields) {
        return new Rows(Layout.from(layout), fields, plan.get("arrived_ms").asLong());
    }

    private void write(Layout layout, Rows.Dated row, boolean suspect) throws IOException {
        // Nearly always the same as before: to spell out the name of a file for each row would cost as much as the row.
        if (last == null || last.layout() != layout || last.suspect() != suspect || !last.day().equals(row.day())) {
            last = new Target(layout, row.day(), suspect, fileOf(layout, row.day(), suspect));
        }
        last.file().write(row);
    }

    private TableFile fileOf(Layout layout, LocalDate day, boolean suspect) throws IOException {
        // A new field of a type gives a file of its own: the columns of a file do not change.
        String name = layout.table() + "/" + layout.columns().hashCode() + "/" + day + "/" + suspect;
        TableFile file = open.get(name);
        if (file == null) {
            if (open.size() == MOST_OPEN_FILES) {
                closeFiles();
            }
            String directory = suspect ? plan.get("staging").asText() + "/" + layout.table() : layout.directory();
            Path path = Path.of(directory, "day=" + day, UUID.randomUUID() + ".parquet");
            file = new TableFile(path, layout.columns());
            open.put(name, file);
            headings.put(
                    name,
                    JSON.createObjectNode()
                            .put("table", layout.table())
                            .put("day", day.toString())
                            .put("suspect", suspect));
        }
        return file;
    }

    private void refuse(Entry entry, String reason) throws IOException {
        try {
            Rows.Dated row = letters.of(entry);
            row.values()[letters.layout.number()] = Binary.fromString(reason);
            write(letters.layout, row, false);
        } catch (Unstorable impossible) {
            throw new IOException(impossible);
        }
    }

    private void closeFiles() throws IOException {
        for (Map.Entry<String, TableFile> each : open.entrySet()) {
            ObjectNode heading = headings.get(each.getKey());
            each.getValue().close(heading);
            files.add(heading);
        }
        open.clear();
    }
}
