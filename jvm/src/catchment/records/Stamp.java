package catchment.records;

import java.nio.ByteBuffer;

/** The fixed part of a stamp; catchment/records.py has the layout. */
public final class Stamp {
    private static final int SEQUENCE_OFFSET = 1;
    private static final int ORIGIN_OFFSET = SEQUENCE_OFFSET + Long.BYTES;

    private Stamp() {}

    public static long sequence(byte[] stamp) {
        return ByteBuffer.wrap(stamp).getLong(SEQUENCE_OFFSET);
    }

    public static long originUs(byte[] stamp) {
        return ByteBuffer.wrap(stamp).getLong(ORIGIN_OFFSET);
    }
}
