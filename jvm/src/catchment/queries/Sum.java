package catchment.queries;

import catchment.control.Packed;

/** The sum or the mean of numbers. */
abstract class Sum implements Accumulator {
    private final boolean mean;
    private long count;

    Sum(boolean mean) {
        this.mean = mean;
    }

    @Override
    public final void add(Object value, int sign, long timeUs, String id) {
        if (value != null) {
            count += sign;
            add((Number) value, sign);
        }
    }

    @Override
    public final Object result() {
        if (count <= 0) {
            return null;
        }
        return mean ? (Object) (total() / count) : sum();
    }

    @Override
    public final void write(Packed out) {
        out.writeLong(count);
        writeSum(out);
    }

    @Override
    public final void read(Packed in) {
        count = in.readLong();
        readSum(in);
    }

    abstract void add(Number value, int sign);

    /** The sum as it is told. */
    abstract Object sum();

    /** The sum that a mean is made of. */
    abstract double total();

    abstract void writeSum(Packed out);

    abstract void readSum(Packed in);
}
