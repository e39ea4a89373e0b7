package catchment.queries;

import catchment.control.SparkRows;
import java.io.Serializable;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;

/**
 * What passes the boxes of the queries of this process: rows, those that were late or refused, and how long after
 * their origin they left. Counters only grow; readers compare with what they read before.
 */
public final class Meter {
    /** Four buckets for every doubling of a delay. */
    private static final int BUCKETS = 4 * Long.SIZE;

    private static final long NO_ORIGIN = Long.MIN_VALUE;
    private static final int NO_EDGE = 0;
    private static final Map<String, Meter> BY_BOX = new ConcurrentHashMap<>();

    private final LongAdder rowsIn = new LongAdder();
    private final LongAdder rows = new LongAdder();
    private final LongAdder late = new LongAdder();
    private final LongAdder refused = new LongAdder();
    private final LongAdder delaysUs = new LongAdder();
    private final AtomicLongArray delays = new AtomicLongArray(BUCKETS);

    private Meter() {}

    /** The meter of a box of a query. */
    static Meter of(String query, String box) {
        return BY_BOX.computeIfAbsent(query + "/" + box, each -> new Meter());
    }

    /** Counts the rows of a frame that come to a box on an edge; called from Python. */
    public static Dataset<Row> apply(Dataset<Row> rows, String query, String box, int edge) {
        Column origin = functions.coalesce(functions.col("_origin_us"), functions.lit(NO_ORIGIN));
        Column at = functions.coalesce(functions.col("_edge"), functions.lit(NO_EDGE));
        Counting counting = new Counting(query, box, edge);
        return rows.where(
                SparkRows.call(counting, "count", DataTypes.BooleanType, at, origin));
    }

    /** Counts rows on an edge; called from Spark's plans. */
    public static final class Counting implements Serializable {
        private static final long serialVersionUID = 1L;
        private final String query;
        private final String box;
        private final int edge;
        private transient Meter meter;

        private Counting(String query, String box, int edge) {
            this.query = query;
            this.box = box;
            this.edge = edge;
        }

        /** True, always: no row is held back. */
        public boolean count(int at, long originUs) {
            if (meter == null) {
                meter = Meter.of(query, box);
            }
            if (originUs != NO_ORIGIN && at == edge) {
                meter.left(originUs);
            }
            return true;
        }
    }

    void came() {
        rowsIn.increment();
    }

    /** Counts a row that leaves the box. */
    void left(long originUs) {
        rows.increment();
        long delayUs = Math.max(1, System.currentTimeMillis() * 1_000 - originUs);
        delaysUs.add(delayUs);
        delays.incrementAndGet(bucket(delayUs));
    }

    void late() {
        late.increment();
    }

    void refused() {
        refused.increment();
    }

    private static int bucket(long us) {
        int exponent = Long.SIZE - 1 - Long.numberOfLeadingZeros(us);
        return 4 * exponent + (int) (exponent < 2 ? 0 : us >>> exponent - 2 & 3);
    }

    private static double upperBoundMs(int bucket) {
        return Math.pow(2, bucket / 4) * (1 + (bucket % 4 + 1) / 4.0) / 1e3;
    }

    /** All meters as JSON, by query and box; delays as upper bounds in ms, and the rows below each. */
    public static String figures() {
        StringBuilder json = new StringBuilder("{");
        BY_BOX.forEach((box, meter) -> json.append(json.length() == 1 ? "" : ",")
                .append("\"" + box + "\":" + meter.toJson()));
        return json.append('}').toString();
    }

    /** Forgets a query that was stopped. */
    public static void forget(String query) {
        BY_BOX.keySet().removeIf(box -> box.startsWith(query + "/"));
    }

    private String toJson() {
        StringBuilder buckets = new StringBuilder();
        for (int each = 0; each < BUCKETS; each++) {
            long count = delays.get(each);
            if (count > 0) {
                buckets.append(buckets.length() == 0 ? "" : ",");
                buckets.append("[" + upperBoundMs(each) + "," + count + "]");
            }
        }
        return "{\"rows_in\":" + rowsIn.sum() + ",\"rows\":" + rows.sum() + ",\"late\":" + late.sum()
                + ",\"refused\":" + refused.sum() + ",\"delay_sum_ms\":" + delaysUs.sum() / 1e3
                + ",\"delays_ms\":[" + buckets + "]}";
    }
}
