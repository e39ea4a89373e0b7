package catchment.queries;

import com.fasterxml.jackson.databind.JsonNode;

/** What a join of two streams is asked for: catchment/queries/joins.py writes it. Columns are given by their places. */
record JoinSpec(
        int sideColumn,
        int timeColumn,
        int firstKey,
        int keys,
        int firstLeft,
        int lefts,
        int firstRight,
        int rights,
        long withinUs,
        boolean outer,
        boolean leftsUpdate,
        boolean rightsUpdate,
        long keepMs) {
    static JoinSpec of(JsonNode spec) {
        return new JoinSpec(
                spec.get("side_column").asInt(),
                spec.get("time_column").asInt(),
                spec.get("first_key").asInt(),
                spec.get("keys").asInt(),
                spec.get("first_left").asInt(),
                spec.get("lefts").asInt(),
                spec.get("first_right").asInt(),
                spec.get("rights").asInt(),
                spec.get("within_us").asLong(),
                spec.get("outer").asBoolean(),
                spec.get("lefts_update").asBoolean(),
                spec.get("rights_update").asBoolean(),
                spec.get("keep_ms").asLong());
    }

    /** A pair as a row: all columns of the left, then all of the right. */
    Object[] row(Placed left, Placed right) {
        Object[] row = new Object[Change.META + lefts + rights];
        System.arraycopy(left.values(), 0, row, Change.META, lefts);
        if (right != null) {
            System.arraycopy(right.values(), 0, row, Change.META + lefts, rights);
        }
        return row;
    }

    static String id(Placed left, Placed right) {
        String first = left.id().indexOf('|') < 0 ? left.id() : left.id().replace("|", "\\|");
        return right == null ? first + "|" : first + "|" + right.id();
    }
}
