package catchment.queries;

import catchment.control.KafkaRows;
import catchment.records.Names;
import catchment.records.Stamp;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A message of a topic.
 *
 * @param version the header that says which of two results of a key is newer; as the others, null if there is none
 * @param headers all of them in Spark's form, for who needs them
 */
record Message(
        int partition,
        long offset,
        long loggedMs,
        byte[] key,
        byte[] value,
        byte[] stamp,
        byte[] origin,
        byte[] version,
        AllHeaders headers) {
    /** Headers are seldom needed in Spark's form. */
    interface AllHeaders {
        ArrayData inSpark();
    }

    /** One that Spark has read. */
    static Message of(int partition, long offset, long loggedMs, byte[] key, byte[] value, ArrayData headers) {
        return new Message(
                partition,
                offset,
                loggedMs,
                key,
                value,
                KafkaRows.stamp(headers),
                KafkaRows.valueOf(headers, KafkaRows.ORIGIN_HEADER),
                KafkaRows.valueOf(headers, KafkaRows.VERSION_HEADER),
                () -> headers);
    }

    /** One as Kafka's client has it. */
    static Message of(ConsumerRecord<byte[], byte[]> record) {
        byte[] stamp = null;
        byte[] origin = null;
        byte[] version = null;
        for (Header header : record.headers()) {
            String name = header.key();
            if (stamp == null && name.equals(Stamp.HEADER)) {
                stamp = header.value();
            } else if (origin == null && name.equals(Names.ORIGIN_HEADER)) {
                origin = header.value();
            } else if (version == null && name.equals(Names.VERSION_HEADER)) {
                version = header.value();
            }
        }
        return new Message(
                record.partition(),
                record.offset(),
                record.timestamp(),
                record.key(),
                record.value(),
                stamp,
                origin,
                version,
                () -> inSpark(record.headers()));
    }

    private static ArrayData inSpark(Headers headers) {
        Header[] all = headers.toArray();
        InternalRow[] rows = new InternalRow[all.length];
        for (int each = 0; each < all.length; each++) {
            rows[each] = KafkaRows.header(UTF8String.fromString(all[each].key()), all[each].value());
        }
        return KafkaRows.headers(rows);
    }

    /** When the record began its way that caused this message. */
    long originUs() {
        if (origin != null) {
            return Long.parseLong(new String(origin, StandardCharsets.US_ASCII));
        }
        return Stamp.isWhole(stamp) ? Stamp.originUs(stamp) : loggedMs * 1_000;
    }
}
