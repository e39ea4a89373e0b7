package catchment.thresholds;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * What one version of a rule says: a field of a measurement must not go beyond a threshold. A transgression
 * starts beyond the threshold and ends on the other side of {@code threshold} moved back by {@code hysteresis}.
 *
 * <p>A transgression keeps the terms under which it started: it can be ended when the rule is gone.
 */
public record Terms(
        long version, String field, Direction direction, double threshold, double hysteresis, String unit) {
    /** Whether a value starts a transgression. */
    public boolean starts(double value) {
        return direction == Direction.ABOVE ? value > threshold : value < threshold;
    }

    /** Whether a value ends a transgression. */
    public boolean ends(double value) {
        return direction == Direction.ABOVE ? value < threshold - hysteresis : value > threshold + hysteresis;
    }

    /** How far a value is beyond the threshold. */
    public double transgression(double value) {
        return direction == Direction.ABOVE ? value - threshold : threshold - value;
    }

    /** Writes what {@link #read} reads. */
    public void write(DataOutput out) throws IOException {
        out.writeLong(version);
        out.writeUTF(field);
        out.writeByte(direction.ordinal());
        out.writeDouble(threshold);
        out.writeDouble(hysteresis);
        out.writeUTF(unit);
    }

    public static Terms read(DataInput in) throws IOException {
        return new Terms(
                in.readLong(),
                in.readUTF(),
                Direction.values()[in.readByte()],
                in.readDouble(),
                in.readDouble(),
                in.readUTF());
    }
}
