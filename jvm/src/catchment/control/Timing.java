package catchment.control;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * How long the rows of a query take, as a histogram for each query of this process.
 *
 * <p>Counters of many threads that do not get into each other's way; read now and then.
 */
public final class Timing {
    /** Upper bounds of the buckets; what is slower is in one more. */
    private static final long[] BOUNDS_US = {
        50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000
    };

    private static final Map<String, Timing> BY_QUERY = new ConcurrentHashMap<>();

    private final LongAdder[] counts = new LongAdder[BOUNDS_US.length + 1];
    private final LongAdder sumNs = new LongAdder();

    private Timing() {
        for (int bucket = 0; bucket < counts.length; bucket++) {
            counts[bucket] = new LongAdder();
        }
    }

    /** The histogram of a query. */
    public static Timing of(String query) {
        return BY_QUERY.computeIfAbsent(query, each -> new Timing());
    }

    /** Counts a row that took so long. */
    public void add(long ns) {
        int bucket = 0;
        while (bucket < BOUNDS_US.length && ns > BOUNDS_US[bucket] * 1_000) {
            bucket++;
        }
        counts[bucket].increment();
        sumNs.add(ns);
    }

    /** All histograms as JSON: by query the upper bounds in s, the rows in each bucket, and the sum in s. */
    public static String figures() {
        StringBuilder json = new StringBuilder("{");
        BY_QUERY.forEach((query, timing) -> json.append(json.length() == 1 ? "" : ",")
                .append('"')
                .append(query)
                .append("\":")
                .append(timing.toJson()));
        return json.append('}').toString();
    }

    private String toJson() {
        StringBuilder buckets = new StringBuilder();
        for (int bucket = 0; bucket < counts.length; bucket++) {
            String bound = bucket < BOUNDS_US.length ? Double.toString(BOUNDS_US[bucket] / 1e6) : "\"+Inf\"";
            buckets.append(bucket == 0 ? "" : ",").append("[" + bound + "," + counts[bucket].sum() + "]");
        }
        return "{\"buckets\":[" + buckets + "],\"sum_s\":" + sumNs.sum() / 1e9 + "}";
    }
}
