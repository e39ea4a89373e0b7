package catchment.queries;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/**
 * What an aggregate is asked for: catchment/queries/aggregates.py writes it.
 *
 * @param timeColumn the place of the time that rows are ordered by
 * @param firstGroup the place of the first column of a group; the others follow
 * @param isFinal results are given once a window is closed, instead of on every change
 * @param setsLateAside rows that come after that do not count
 * @param appendOnly its rows are never withdrawn
 * @param upserts who reads the results needs no word of those that are replaced
 */
record AggregateSpec(
        int timeColumn,
        int firstGroup,
        int groups,
        List<Function> functions,
        long sizeUs,
        long advanceUs,
        int rows,
        int advanceRows,
        boolean windowed,
        boolean isFinal,
        boolean setsLateAside,
        boolean appendOnly,
        boolean upserts,
        long latenessUs,
        long idleMs,
        long keepMs) {
    static AggregateSpec of(JsonNode spec) {
        List<Function> functions = new ArrayList<>();
        for (JsonNode each : spec.get("functions")) {
            functions.add(new Function(
                    each.get("name").asText(), each.get("column").asInt(), each.get("whole").asBoolean()));
        }
        return new AggregateSpec(
                spec.get("time_column").asInt(),
                spec.get("first_group").asInt(),
                spec.get("groups").asInt(),
                functions,
                spec.path("size_us").asLong(),
                spec.path("advance_us").asLong(),
                spec.path("rows").asInt(),
                spec.path("advance_rows").asInt(),
                spec.get("windowed").asBoolean(),
                spec.get("final").asBoolean(),
                spec.get("sets_late_aside").asBoolean(),
                spec.get("append_only").asBoolean(),
                spec.get("upserts").asBoolean(),
                spec.get("lateness_us").asLong(),
                spec.get("idle_ms").asLong(),
                spec.get("keep_ms").asLong());
    }

    Clock clock() {
        return new Clock(latenessUs, idleMs, keepMs);
    }

    Object[] groupOf(Change change) {
        return change.range(firstGroup, groups, 0);
    }

    /** The time of a row; null if it has none. */
    Long timeOf(Change change) {
        return (Long) change.get(timeColumn);
    }

    Object[] argumentsOf(Change change) {
        Object[] arguments = new Object[functions.size()];
        for (int each = 0; each < arguments.length; each++) {
            int column = functions.get(each).column();
            arguments[each] = column < 0 ? Boolean.TRUE : change.get(column);
        }
        return arguments;
    }

    Accumulator[] start() {
        Accumulator[] all = new Accumulator[functions.size()];
        for (int each = 0; each < all.length; each++) {
            all[each] = functions.get(each).start(appendOnly);
        }
        return all;
    }

    /** The group as a part of a result's id. */
    static String text(Object[] group) {
        return group.length == 0 ? "all" : Values.text(group);
    }

    /** A row of results: group, bounds of the window, values. */
    Object[] row(Object[] group, Accumulator[] values, Object... window) {
        Object[] row = new Object[Change.META + group.length + window.length + values.length];
        System.arraycopy(group, 0, row, Change.META, group.length);
        System.arraycopy(window, 0, row, Change.META + group.length, window.length);
        int place = Change.META + group.length + window.length;
        for (Accumulator value : values) {
            row[place++] = value.result();
        }
        return row;
    }
}
