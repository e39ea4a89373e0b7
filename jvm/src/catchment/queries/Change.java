package catchment.queries;

import java.util.function.IntFunction;

/**
 * A change of a stream's collection of rows: one is there (+1) or was withdrawn (-1).
 *
 * @param columns the columns that a box asked for, by their places
 */
record Change(String id, int sign, long originUs, IntFunction<Object> columns) {
    /** Places that every row of results leaves free for its id, sign, origin, version and what was set aside. */
    static final int META = 5;

    Object get(int column) {
        return columns.apply(column);
    }

    /** Some columns next to each other, with `room` left free before them. */
    Object[] range(int from, int count, int room) {
        Object[] values = new Object[room + count];
        for (int each = 0; each < count; each++) {
            values[room + each] = columns.apply(from + each);
        }
        return values;
    }
}
