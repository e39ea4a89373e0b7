package catchment.queries;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Comparator;

/**
 * What a top-N is asked for: catchment/queries/tops.py writes it. Rows are the columns from `firstColumn` on; places
 * of orders are places among them.
 *
 * @param replaces whether a row that comes stands in the place of the one before with the same id
 * @param keepMs after how long without a change a group is given up; 0 if never
 */
record TopSpec(
        int firstGroup,
        int groups,
        int firstColumn,
        int columns,
        int[] orders,
        boolean[] descending,
        int limit,
        boolean appendOnly,
        boolean upserts,
        boolean replaces,
        long keepMs) {
    static TopSpec of(JsonNode spec) {
        int count = spec.get("orders").size();
        int[] orders = new int[count];
        boolean[] descending = new boolean[count];
        for (int each = 0; each < count; each++) {
            orders[each] = spec.get("orders").get(each).get("column").asInt();
            descending[each] = spec.get("orders").get(each).get("descending").asBoolean();
        }
        return new TopSpec(
                spec.get("first_group").asInt(),
                spec.get("groups").asInt(),
                spec.get("first_column").asInt(),
                spec.get("columns").asInt(),
                orders,
                descending,
                spec.get("limit").asInt(),
                spec.get("append_only").asBoolean(),
                spec.get("upserts").asBoolean(),
                spec.get("replaces").asBoolean(),
                spec.get("keep_ms").asLong());
    }

    /** The order of rows; those that are equal in it are in that of their ids. Null is last either way. */
    Comparator<Placed> order() {
        return (one, other) -> {
            for (int each = 0; each < orders.length; each++) {
                int order = compare(one.values()[orders[each]], other.values()[orders[each]], descending[each]);
                if (order != 0) {
                    return order;
                }
            }
            return one.compareTo(other);
        };
    }

    private static int compare(Object one, Object other, boolean descending) {
        if (one == null || other == null) {
            return one == other ? 0 : one == null ? 1 : -1;
        }
        return descending ? Values.compare(other, one) : Values.compare(one, other);
    }
}
