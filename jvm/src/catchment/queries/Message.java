package catchment.queries;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A message of a topic.
 *
 * @param headers names and values, in Spark's form; may be null
 */
record Message(int partition, long offset, long loggedMs, byte[] key, byte[] value, ArrayData headers) {
    private static final int HEADER_PARTS = 2;

    /** The value of the first header of that name; null if there is none. */
    byte[] header(UTF8String name) {
        for (int each = 0; each < headerCount(); each++) {
            InternalRow header = headers.getStruct(each, HEADER_PARTS);
            if (name.equals(header.getUTF8String(0))) {
                return header.getBinary(1);
            }
        }
        return null;
    }

    int headerCount() {
        return headers == null ? 0 : headers.numElements();
    }
}
