package catchment.source;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeArrayWriter;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Writes a record of Kafka straight into a row with the columns of Spark's Kafka source. Spark's own way makes
 * objects of all of it first, which is most of what reading costs after Kafka's client.
 */
final class RowOfRecord {
    private static final int KEY = 0;
    private static final int VALUE = 1;
    private static final int TOPIC = 2;
    private static final int PARTITION = 3;
    private static final int OFFSET = 4;
    private static final int TIMESTAMP = 5;
    private static final int TIMESTAMP_TYPE = 6;
    private static final int HEADERS = 7;
    private static final int HEADER_PARTS = 2;
    private static final int FIRST_BYTES = 1 << 10;
    private static final long US_PER_MS = 1_000;

    private final boolean includeHeaders;
    private final UnsafeRowWriter row;
    private final UnsafeArrayWriter headers;
    private final UnsafeRowWriter header;
    private final Map<String, UTF8String> texts = new HashMap<>();

    RowOfRecord(boolean includeHeaders) {
        this.includeHeaders = includeHeaders;
        row = new UnsafeRowWriter(includeHeaders ? HEADERS + 1 : HEADERS, FIRST_BYTES);
        headers = new UnsafeArrayWriter(row, Long.BYTES);
        header = new UnsafeRowWriter(row, HEADER_PARTS);
    }

    /** The row, which is only good until the next. */
    UnsafeRow of(ConsumerRecord<byte[], byte[]> record) {
        row.reset();
        row.zeroOutNullBytes();
        writeBytes(row, KEY, record.key());
        writeBytes(row, VALUE, record.value());
        row.write(TOPIC, text(record.topic()));
        row.write(PARTITION, record.partition());
        row.write(OFFSET, record.offset());
        row.write(TIMESTAMP, record.timestamp() * US_PER_MS);
        row.write(TIMESTAMP_TYPE, record.timestampType().id);
        if (includeHeaders) {
            writeHeaders(record.headers().toArray());
        }
        return row.getRow();
    }

    /** As Spark's source has it: a record without headers has null. */
    private void writeHeaders(Header[] all) {
        if (all.length == 0) {
            row.setNullAt(HEADERS);
            return;
        }
        int beginning = row.cursor();
        headers.initialize(all.length);
        for (int each = 0; each < all.length; each++) {
            int before = headers.cursor();
            header.resetRowWriter();
            header.write(0, text(all[each].key()));
            writeBytes(header, 1, all[each].value());
            headers.setOffsetAndSizeFromPreviousCursor(each, before);
        }
        row.setOffsetAndSizeFromPreviousCursor(HEADERS, beginning);
    }

    private static void writeBytes(UnsafeRowWriter target, int place, byte[] bytes) {
        if (bytes == null) {
            target.setNullAt(place);
        } else {
            target.write(place, bytes);
        }
    }

    /** Names of topics and headers, of which there are few, and a limit to what a stranger makes of them. */
    private UTF8String text(String name) {
        UTF8String known = texts.get(name);
        if (known == null) {
            known = UTF8String.fromString(name);
            if (texts.size() < FIRST_BYTES) {
                texts.put(name, known);
            }
        }
        return known;
    }
}
