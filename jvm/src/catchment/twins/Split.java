package catchment.twins;

import catchment.control.KafkaRows;
import catchment.control.SparkRows;
import catchment.control.Timing;
import catchment.records.Stamp;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;

/** What the API writes to twins, split: without state, and so without a shuffle. */
public final class Split implements MapPartitionsFunction<InternalRow, InternalRow> {
    private static final long serialVersionUID = 1L;
    /** Columns of the input, by number. */
    private static final int TOPIC = 0;

    private static final int KEY = 1;
    private static final int VALUE = 2;
    private static final int HEADERS = 3;

    private final String site;

    private Split(String site) {
        this.site = site;
    }

    /** Applies it; called from Python. */
    public static Dataset<Row> apply(Dataset<Row> rows, String site) {
        return rows.as(SparkRows.encoder(rows.schema()))
                .mapPartitions(new Split(site), SparkRows.encoder(KafkaRows.SCHEMA))
                .toDF();
    }

    @Override
    public Iterator<InternalRow> call(Iterator<InternalRow> rows) {
        return new Changes(rows, site);
    }

    /** The changes of one message after the other. */
    private static final class Changes implements Iterator<InternalRow> {
        private final Iterator<InternalRow> rows;
        private final Splitting splitting;
        private final Timing timing = Timing.of("twin-split");
        private final List<InternalRow> changes = new ArrayList<>();
        private int next;

        private Changes(Iterator<InternalRow> rows, String site) {
            this.rows = rows;
            this.splitting = new Splitting(site);
        }

        @Override
        public boolean hasNext() {
            while (next == changes.size() && rows.hasNext()) {
                changes.clear();
                next = 0;
                long began = System.nanoTime();
                split(rows.next());
                timing.add(System.nanoTime() - began);
            }
            return next < changes.size();
        }

        @Override
        public InternalRow next() {
            return changes.get(next++);
        }

        private void split(InternalRow row) {
            ArrayData headers = row.getArray(HEADERS);
            byte[] stamp = KafkaRows.stamp(headers);
            Splitting.Message message = new Splitting.Message(
                    row.getUTF8String(TOPIC), KafkaRows.bytes(row, KEY), KafkaRows.bytes(row, VALUE), headers);
            if (Stamp.isWhole(stamp)) {
                splitting.split(message, stamp, null, null, changes);
            } else {
                changes.add(Splitting.letter(message, "it has no stamp"));
            }
        }
    }
}
