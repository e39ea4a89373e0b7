package catchment.store;

import catchment.records.Stamp;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.Set;
import java.util.regex.Pattern;

/** A stamp in the order in which of two readings of one sensor and time the newer wins: a total one. */
public record StampKey(long originUs, String source, long sequence) implements Comparable<StampKey> {
    private static final byte VERSION = 1;
    private static final int IDENTITY_OFFSET = 1 + 2 * Long.BYTES;
    private static final String NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,63}";
    private static final Pattern SOURCE = Pattern.compile(
            NAME + "/" + NAME + "/(0|[1-9][0-9]{0,18})/[A-Za-z0-9][A-Za-z0-9._:/-]{0,199}");
    private static final Comparator<StampKey> ORDER = Comparator.comparingLong(StampKey::originUs)
            .thenComparing(StampKey::source)
            .thenComparingLong(StampKey::sequence);

    /** The stamp in a header. Sources that are valid are added to those that are known, and not looked at again. */
    public static StampKey of(byte[] stamp, Set<String> known) throws Unstorable {
        if (stamp == null || stamp.length <= IDENTITY_OFFSET || stamp[0] != VERSION || Stamp.sequence(stamp) < 1) {
            throw new Unstorable("invalid-stamp");
        }
        String source =
                new String(stamp, IDENTITY_OFFSET, stamp.length - IDENTITY_OFFSET, StandardCharsets.UTF_8);
        if (!known.contains(source)) {
            if (!SOURCE.matcher(source).matches()) {
                throw new Unstorable("invalid-stamp");
            }
            known.add(source);
        }
        return new StampKey(Stamp.originUs(stamp), source, Stamp.sequence(stamp));
    }

    @Override
    public int compareTo(StampKey other) {
        return ORDER.compare(this, other);
    }

    /** As PostgreSQL reads a value of several columns; no character of a source needs quoting there. */
    public String sql() {
        return "(" + originUs + "," + source + "," + sequence + ")";
    }
}
