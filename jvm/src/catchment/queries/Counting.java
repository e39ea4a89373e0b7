package catchment.queries;

import catchment.control.Packed;

/** How many values there are. */
final class Counting implements Accumulator {
    private long count;

    @Override
    public void add(Object value, int sign, long timeUs, String id) {
        if (value != null) {
            count += sign;
        }
    }

    @Override
    public Object result() {
        return count;
    }

    @Override
    public void write(Packed out) {
        out.writeLong(count);
    }

    @Override
    public void read(Packed in) {
        count = in.readLong();
    }
}
