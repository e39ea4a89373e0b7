package catchment.source;

import java.util.List;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.catalyst.InternalRow;

/** What a poll brought of one partition, gone through once; rows are made when their turn comes, or in advance. */
final class Polled {
    private final TopicPartition partition;
    private final Function<ConsumerRecord<byte[], byte[]>, InternalRow> rows;
    private final int count;
    private List<ConsumerRecord<byte[], byte[]>> records;
    private InternalRow[] made;
    private long[] offsets;
    private int next;
    private long offset;
    private InternalRow row;

    Polled(
            TopicPartition partition,
            List<ConsumerRecord<byte[], byte[]>> records,
            Function<ConsumerRecord<byte[], byte[]>, InternalRow> rows) {
        this.partition = partition;
        this.records = records;
        this.rows = rows;
        this.count = records.size();
    }

    int count() {
        return count;
    }

    TopicPartition partition() {
        return partition;
    }

    /** Makes all rows; the records are let go. */
    void make() {
        made = new InternalRow[count];
        offsets = new long[count];
        for (int each = 0; each < count; each++) {
            ConsumerRecord<byte[], byte[]> record = records.get(each);
            made[each] = rows.apply(record);
            offsets[each] = record.offset();
        }
        records = null;
    }

    boolean hasNext() {
        return next < count;
    }

    /** Goes on to the next record; whether it makes a row. */
    boolean next() {
        if (made == null) {
            ConsumerRecord<byte[], byte[]> record = records.get(next);
            row = rows.apply(record);
            offset = record.offset();
        } else {
            row = made[next];
            offset = offsets[next];
        }
        next++;
        return row != null;
    }

    long offset() {
        return offset;
    }

    InternalRow row() {
        return row;
    }
}
