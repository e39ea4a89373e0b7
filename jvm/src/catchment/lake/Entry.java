package catchment.lake;

import catchment.records.Stamp;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;

/** A record of the log, looked at in place: the columns are those that catchment/pipeline/lake.py selects. */
final class Entry {
    private static final int TOPIC = 0;
    private static final int PARTITION = 1;
    private static final int OFFSET = 2;
    private static final int LOGGED_MS = 3;
    private static final int KEY = 4;
    private static final int VALUE = 5;
    private static final int STAMP = 6;
    private static final int HEADERS = 7;

    private final InternalRow row;
    private final byte[] stamp;
    private final String[] source;

    Entry(InternalRow row, Sources sources) {
        this.row = row;
        this.stamp = row.isNullAt(STAMP) ? null : row.getBinary(STAMP);
        this.source = stamp == null ? null : sources.of(stamp);
    }

    boolean isStamped() {
        return source != null;
    }

    String topic() {
        return row.getUTF8String(TOPIC).toString();
    }

    int partition() {
        return row.getInt(PARTITION);
    }

    long offset() {
        return row.getLong(OFFSET);
    }

    long loggedMs() {
        return row.getLong(LOGGED_MS);
    }

    byte[] key() {
        return row.isNullAt(KEY) ? null : row.getBinary(KEY);
    }

    byte[] value() {
        return row.isNullAt(VALUE) ? null : row.getBinary(VALUE);
    }

    /** Site, gateway, epoch and stream. */
    String source(int part) {
        return source == null ? null : source[part];
    }

    Long sequence() {
        return isStamped() ? Stamp.sequence(stamp) : null;
    }

    Long originUs() {
        return isStamped() ? Stamp.originUs(stamp) : null;
    }

    byte[] header(String name) {
        if (row.isNullAt(HEADERS)) {
            return null;
        }
        ArrayData headers = row.getArray(HEADERS);
        // The last one counts: reasons are added behind the headers of the original.
        for (int index = headers.numElements() - 1; index >= 0; index--) {
            InternalRow header = headers.getStruct(index, 2);
            if (header.getUTF8String(0).toString().equals(name)) {
                return header.isNullAt(1) ? null : header.getBinary(1);
            }
        }
        return null;
    }
}
