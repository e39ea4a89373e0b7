package catchment.queries;

import catchment.control.Packed;

/**
 * The sum or the mean of real numbers, with what rounding took away kept beside it (Neumaier), so that numbers
 * which are withdrawn leave nothing behind. Infinities and what is no number are counted apart, for the same reason.
 */
final class RealSum extends Sum {
    private long notNumbers;
    private long above;
    private long below;
    private double sum;
    private double lost;

    RealSum(boolean mean) {
        super(mean);
    }

    @Override
    void add(Number value, int sign) {
        double number = value.doubleValue();
        if (Double.isFinite(number)) {
            add(sign * number);
        } else if (Double.isNaN(number)) {
            notNumbers += sign;
        } else if (number > 0) {
            above += sign;
        } else {
            below += sign;
        }
    }

    private void add(double number) {
        double next = sum + number;
        lost += Math.abs(sum) >= Math.abs(number) ? sum - next + number : number - next + sum;
        sum = next;
    }

    @Override
    Object sum() {
        return total();
    }

    @Override
    double total() {
        if (notNumbers > 0 || above > 0 && below > 0) {
            return Double.NaN;
        }
        if (above > 0 || below > 0) {
            return above > 0 ? Double.POSITIVE_INFINITY : Double.NEGATIVE_INFINITY;
        }
        return sum + lost;
    }

    @Override
    void writeSum(Packed out) {
        out.writeLong(notNumbers);
        out.writeLong(above);
        out.writeLong(below);
        out.writeDouble(sum);
        out.writeDouble(lost);
    }

    @Override
    void readSum(Packed in) {
        notNumbers = in.readLong();
        above = in.readLong();
        below = in.readLong();
        sum = in.readDouble();
        lost = in.readDouble();
    }
}
