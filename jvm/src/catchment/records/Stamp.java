package catchment.records;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A stamp's parts; catchment/records.py has the layout. */
public final class Stamp {
    /** The header that a stamp is in. */
    public static final String HEADER = "catchment-stamp";

    private static final byte VERSION = 1;
    private static final int SEQUENCE_OFFSET = 1;
    private static final int ORIGIN_OFFSET = SEQUENCE_OFFSET + Long.BYTES;
    public static final int IDENTITY_OFFSET = ORIGIN_OFFSET + Long.BYTES;
    private static final Pattern IDENTITY = Pattern.compile(
            "([A-Za-z0-9][A-Za-z0-9._-]{0,63})/[A-Za-z0-9][A-Za-z0-9._-]{0,63}/(?:0|[1-9][0-9]{0,18})/"
                    + "([A-Za-z0-9][A-Za-z0-9._:/-]{0,199})");

    private Stamp() {}

    /** Whether this is a stamp, with all its parts; its identity is another matter. */
    public static boolean isWhole(byte[] stamp) {
        return stamp != null && stamp.length > IDENTITY_OFFSET && stamp[0] == VERSION && sequence(stamp) > 0;
    }

    public static long sequence(byte[] stamp) {
        return ByteBuffer.wrap(stamp).getLong(SEQUENCE_OFFSET);
    }

    public static long originUs(byte[] stamp) {
        return ByteBuffer.wrap(stamp).getLong(ORIGIN_OFFSET);
    }

    /** The source: site, gateway, epoch and stream. */
    public static String identity(byte[] stamp) {
        return new String(stamp, IDENTITY_OFFSET, stamp.length - IDENTITY_OFFSET, StandardCharsets.US_ASCII);
    }

    /** Whether this is the identity of a source. */
    public static boolean isIdentity(String text) {
        return IDENTITY.matcher(text).matches();
    }

    /** The name of the stream in an identity of this site; null if it is of another site, or invalid. */
    public static String streamAt(String site, String identity) {
        Matcher parts = IDENTITY.matcher(identity);
        return parts.matches() && parts.group(1).equals(site) ? parts.group(2) : null;
    }
}
