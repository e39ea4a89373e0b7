package catchment.twins;

import catchment.control.Packed;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * All that is kept of one object: its state, and how far it has heard each source.
 *
 * <p>An object that was deleted for good, or was only ever asked for in vain, keeps its version and its
 * sources: what comes again must find the same answer.
 */
public final class Twin {
    private static final byte FORMAT = 1;
    private static final long NEVER = Long.MIN_VALUE;

    boolean present;
    long version;
    String type = "";
    String owner = "";
    String transaction = "";
    long createdMs;
    long updatedMs;
    long deletedMs = NEVER;
    /** Notices so far. */
    long notices;
    /** Whether the last that a device sent was refused for its value. */
    boolean lastInvalid;
    final TreeMap<String, Object> values = new TreeMap<>();
    private final List<Position> sources = new ArrayList<>(1);

    /** How far a source has been heard. */
    private static final class Position {
        private final String source;
        private long epoch;
        private long sequence;

        private Position(String source, long epoch, long sequence) {
            this.source = source;
            this.epoch = epoch;
            this.sequence = sequence;
        }
    }

    public long version() {
        return version;
    }

    public boolean isPresent() {
        return present;
    }

    boolean isMarkedDeleted() {
        return deletedMs != NEVER;
    }

    void unmark() {
        deletedMs = NEVER;
    }

    /** Forgets the state of an object that is deleted for good. */
    void remove() {
        present = false;
        values.clear();
        type = "";
        owner = "";
        transaction = "";
        unmark();
    }

    /** Notes how far a source is; false if it has been as far before, so that this comes again. */
    public boolean isNews(String source, long epoch, long sequence) {
        for (Position each : sources) {
            if (each.source.equals(source)) {
                if (epoch < each.epoch || (epoch == each.epoch && sequence <= each.sequence)) {
                    return false;
                }
                each.epoch = epoch;
                each.sequence = sequence;
                return true;
            }
        }
        sources.add(new Position(source, epoch, sequence));
        return true;
    }

    /** As bytes, which {@link #read} reads. */
    public byte[] toBytes(Packed out) {
        out.clear();
        out.writeByte(FORMAT);
        out.writeLong(version);
        out.writeLong(notices);
        out.writeByte(lastInvalid ? 1 : 0);
        out.writeLong(sources.size());
        for (Position each : sources) {
            out.writeText(each.source);
            out.writeLong(each.epoch);
            out.writeLong(each.sequence);
        }
        out.writeByte(present ? 1 : 0);
        if (present) {
            writeState(out);
        }
        return out.toBytes();
    }

    private void writeState(Packed out) {
        out.writeText(type);
        out.writeText(owner);
        out.writeText(transaction);
        out.writeLong(createdMs);
        out.writeLong(updatedMs);
        out.writeLong(deletedMs);
        out.writeLong(values.size());
        for (Map.Entry<String, Object> each : values.entrySet()) {
            out.writeText(each.getKey());
            writeValue(out, each.getValue());
        }
    }

    private static void writeValue(Packed out, Object value) {
        if (value instanceof Double number) {
            out.writeByte('d');
            out.writeDouble(number);
        } else if (value instanceof Long number) {
            out.writeByte('l');
            out.writeLong(number);
        } else if (value instanceof Boolean truth) {
            out.writeByte(truth ? 't' : 'f');
        } else {
            out.writeByte('s');
            out.writeText((String) value);
        }
    }

    /** An object from its bytes; names that many objects share are handed to `shared`, which keeps one of each. */
    public static Twin read(byte[] stored, UnaryOperator<String> shared) {
        Packed in = new Packed(stored);
        Twin twin = new Twin();
        in.readByte();
        twin.version = in.readLong();
        twin.notices = in.readLong();
        twin.lastInvalid = in.readByte() == 1;
        for (long left = in.readLong(); left > 0; left--) {
            twin.sources.add(new Position(shared.apply(in.readText()), in.readLong(), in.readLong()));
        }
        twin.present = in.readByte() == 1;
        if (twin.present) {
            twin.readState(in, shared);
        }
        return twin;
    }

    private void readState(Packed in, UnaryOperator<String> shared) {
        type = shared.apply(in.readText());
        owner = shared.apply(in.readText());
        transaction = in.readText();
        createdMs = in.readLong();
        updatedMs = in.readLong();
        deletedMs = in.readLong();
        for (long left = in.readLong(); left > 0; left--) {
            values.put(shared.apply(in.readText()), readValue(in));
        }
    }

    private static Object readValue(Packed in) {
        return switch (in.readByte()) {
            case 'd' -> in.readDouble();
            case 'l' -> in.readLong();
            case 't' -> Boolean.TRUE;
            case 'f' -> Boolean.FALSE;
            default -> in.readText();
        };
    }
}
