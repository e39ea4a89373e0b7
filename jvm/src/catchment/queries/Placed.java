package catchment.queries;

import catchment.control.Packed;

/** A row that is kept, in the order of time; of several at once, in that of their ids. */
record Placed(long timeUs, String id, Object[] values) implements Comparable<Placed> {
    @Override
    public int compareTo(Placed other) {
        int order = Long.compare(timeUs, other.timeUs);
        order = order == 0 ? id.compareTo(other.id) : order;
        return order == 0 ? Values.compare(values, other.values) : order;
    }

    /** The least place of a time. */
    static Placed at(long timeUs) {
        return new Placed(timeUs, "", new Object[0]);
    }

    void write(Packed out) {
        out.writeLong(timeUs);
        out.writeText(id);
        Values.write(out, values);
    }

    static Placed read(Packed in) {
        return new Placed(in.readLong(), in.readText(), Values.readAll(in));
    }
}
