package catchment.twins;

import catchment.control.KafkaRows;
import catchment.control.Timing;
import catchment.records.Stamp;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;

/** What the API writes to twins, split: without state, and so without a shuffle. */
public final class Split implements MapPartitionsFunction<Row, Row> {
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
        return rows.mapPartitions(new Split(site), Encoders.row(KafkaRows.SCHEMA));
    }

    @Override
    public Iterator<Row> call(Iterator<Row> rows) {
        return new Changes(rows, site);
    }

    /** The changes of one message after the other. */
    private static final class Changes implements Iterator<Row> {
        private final Iterator<Row> rows;
        private final Splitting splitting;
        private final Timing timing = Timing.of("twin-split");
        private final List<Row> changes = new ArrayList<>();
        private int next;

        private Changes(Iterator<Row> rows, String site) {
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
        public Row next() {
            return changes.get(next++);
        }

        private void split(Row row) {
            List<Row> headers = row.getList(HEADERS);
            byte[] stamp = KafkaRows.valueOf(headers, Stamp.HEADER);
            Splitting.Message message =
                    new Splitting.Message(row.getString(TOPIC), row.getAs(KEY), row.getAs(VALUE), headers);
            if (Stamp.isWhole(stamp)) {
                splitting.split(message, stamp, null, null, changes);
            } else {
                changes.add(Splitting.letter(message, "it has no stamp"));
            }
        }
    }
}
