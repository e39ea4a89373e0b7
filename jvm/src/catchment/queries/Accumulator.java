package catchment.queries;

import catchment.control.Packed;

/**
 * One value of an aggregate over the rows of one window. Rows that are withdrawn leave nothing behind, in whatever
 * order changes come. Nulls do not count.
 */
interface Accumulator {
    /** Takes a value in (+1) or out (-1). The order of rows is that of their times, then of their ids. */
    void add(Object value, int sign, long timeUs, String id);

    Object result();

    void write(Packed out);

    void read(Packed in);
}
