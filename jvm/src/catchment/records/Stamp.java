package catchment.records;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** A stamp's parts; catchment/records.py has the layout. */
public final class Stamp {
    /** The header that a stamp is in. */
    public static final String HEADER = "catchment-stamp";

    private static final int SEQUENCE_OFFSET = 1;
    private static final int ORIGIN_OFFSET = SEQUENCE_OFFSET + Long.BYTES;

    private static final int IDENTITY_OFFSET = ORIGIN_OFFSET + Long.BYTES;
    private static final byte VERSION = 1;

    private Stamp() {}

    /** Whether this is a stamp, with all its parts. */
    public static boolean isWhole(byte[] stamp) {
        return stamp != null && stamp.length > IDENTITY_OFFSET && stamp[0] == VERSION;
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
}
