package catchment.ledger;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.TreeMap;

/** The numbers that are missing below the highest one seen, as ranges. */
public final class Gaps {
    private final TreeMap<Long, Long> lastByFirst = new TreeMap<>();

    /** Notes that the numbers from {@code first} to {@code last} were skipped. */
    public void open(long first, long last) {
        lastByFirst.put(first, last);
    }

    /** Takes a number that arrived after all out of its range; false if it was not missing. */
    public boolean fill(long sequence) {
        Map.Entry<Long, Long> range = lastByFirst.floorEntry(sequence);
        if (range == null || range.getValue() < sequence) {
            return false;
        }
        long first = range.getKey();
        long last = range.getValue();
        lastByFirst.remove(first);
        if (first < sequence) {
            lastByFirst.put(first, sequence - 1);
        }
        if (sequence < last) {
            lastByFirst.put(sequence + 1, last);
        }
        return true;
    }

    /** How many ranges are missing. */
    public int size() {
        return lastByFirst.size();
    }

    /** Expects the numbers of the lowest range no longer. */
    public void closeLowest() {
        lastByFirst.pollFirstEntry();
    }

    /** The lowest ranges, at most {@code limit} of them, each as first and last. */
    public long[][] lowest(int limit) {
        return lastByFirst.entrySet().stream()
                .limit(limit)
                .map(range -> new long[] {range.getKey(), range.getValue()})
                .toArray(long[][]::new);
    }

    /** The ranges as bytes, two numbers each. */
    public byte[] toBytes() {
        ByteBuffer bytes = ByteBuffer.allocate(lastByFirst.size() * 2 * Long.BYTES);
        lastByFirst.forEach((first, last) -> bytes.putLong(first).putLong(last));
        return bytes.array();
    }

    /** The ranges that {@link #toBytes} wrote. */
    public static Gaps fromBytes(byte[] stored) {
        Gaps gaps = new Gaps();
        ByteBuffer bytes = ByteBuffer.wrap(stored);
        while (bytes.hasRemaining()) {
            gaps.open(bytes.getLong(), bytes.getLong());
        }
        return gaps;
    }
}
