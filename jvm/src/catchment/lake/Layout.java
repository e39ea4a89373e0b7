package catchment.lake;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/** How the records of a topic or of a schema become rows of a table; catchment/lake/layout.py writes it. */
record Layout(
        String table,
        String directory,
        List<Column> columns,
        List<Integer> identity,
        int number,
        boolean counted,
        boolean needsStamp,
        String timeField) {

    /** A column, and what its values are taken from: a part of the record, or a field of its Avro value. */
    record Column(String name, Type type, Part part, String argument) {}

    /** What a column can hold. */
    enum Type {
        BOOLEAN,
        LONG,
        DOUBLE,
        STRING,
        BINARY,
        TIMESTAMP,
        DATE
    }

    /** What of a record a column can be taken from. */
    enum Part {
        FIELD,
        SITE,
        GATEWAY,
        EPOCH,
        STREAM,
        SEQUENCE,
        ORIGIN_US,
        TIME,
        ARRIVED_MS,
        DELAY_MS,
        LOGGED_MS,
        PARTITION,
        OFFSET,
        KEY,
        VALUE,
        HEADER,
        TOPIC
    }

    static Layout from(JsonNode node) {
        List<Column> columns = new ArrayList<>();
        for (JsonNode column : node.get("columns")) {
            columns.add(new Column(
                    column.get("name").asText(),
                    Type.valueOf(column.get("type").asText().toUpperCase()),
                    Part.valueOf(column.get("part").asText().toUpperCase()),
                    column.get("argument").asText()));
        }
        List<Integer> identity = new ArrayList<>();
        node.get("identity").forEach(index -> identity.add(index.asInt()));
        return new Layout(
                node.get("table").asText(),
                node.get("directory").asText(),
                columns,
                identity,
                node.get("number").asInt(),
                node.get("counted").asBoolean(),
                node.get("needs_stamp").asBoolean(),
                node.get("time_field").asText());
    }
}
