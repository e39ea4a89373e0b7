package catchment.queries;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * A box that takes results straight from another of its stage: catchment/queries/frames/stages.py writes it.
 *
 * @param first the number of its first column
 * @param columns for each of its columns, the place among those of the result; if negative it is a constant
 * @param numbered whether the first column of the result is part of its id
 */
record Feed(int box, int first, int[] columns, Object[] constants, boolean numbered) {
    static Feed of(JsonNode feed) {
        int count = feed.get("columns").size();
        int[] columns = new int[count];
        Object[] constants = new Object[count];
        for (int each = 0; each < count; each++) {
            columns[each] = feed.get("columns").get(each).asInt();
            JsonNode constant = feed.get("constants").get(each);
            constants[each] = constant.isNull() ? null : constant.asInt();
        }
        return new Feed(
                feed.get("box").asInt(),
                feed.get("first").asInt(),
                columns,
                constants,
                feed.get("numbered").asBoolean());
    }

    /** The change that a result is for the box. */
    Change change(int sign, String id, long originUs, Object[] result) {
        String identity = numbered ? id + '#' + result[Change.META] : id;
        return new Change(identity, sign, originUs, column -> value(result, column - first));
    }

    private Object value(Object[] result, int column) {
        int place = columns[column];
        return place < 0 ? constants[column] : result[Change.META + place];
    }
}
