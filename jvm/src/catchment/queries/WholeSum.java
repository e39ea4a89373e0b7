package catchment.queries;

import catchment.control.Packed;
import java.math.BigInteger;

/** The sum or the mean of whole numbers: exact, in 128 bits. A sum beyond 64 bits is null rather than wrong. */
final class WholeSum extends Sum {
    private long low;
    private long high;

    WholeSum(boolean mean) {
        super(mean);
    }

    @Override
    void add(Number value, int sign) {
        long number = value.longValue();
        long before = low;
        if (sign > 0) {
            low += number;
            high += (number >> 63) + (Long.compareUnsigned(low, before) < 0 ? 1 : 0);
        } else {
            low -= number;
            high -= (number >> 63) + (Long.compareUnsigned(before, number) < 0 ? 1 : 0);
        }
    }

    private boolean fits() {
        return high == low >> 63;
    }

    @Override
    Object sum() {
        return fits() ? low : null;
    }

    @Override
    double total() {
        if (fits()) {
            return low;
        }
        BigInteger unsigned = new BigInteger(Long.toUnsignedString(low));
        return BigInteger.valueOf(high).shiftLeft(Long.SIZE).add(unsigned).doubleValue();
    }

    @Override
    void writeSum(Packed out) {
        out.writeLong(low);
        out.writeLong(high);
    }

    @Override
    void readSum(Packed in) {
        low = in.readLong();
        high = in.readLong();
    }
}
