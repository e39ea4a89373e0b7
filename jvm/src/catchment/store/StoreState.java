package catchment.store;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** How a store is, for whoever asks: what it has written, and why it does not at this moment. */
final class StoreState {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Map<String, SourceCount> changed = new HashMap<>();
    private final Map<String, Long> positions = new HashMap<>();
    private String problem = "";
    private long rows;
    private long rejected;
    private long transactions;
    private double delaySumMs;
    private double lastDelayMs = -1;

    synchronized void runs() {
        problem = "";
    }

    synchronized void fails(Exception error) {
        problem = Store.firstLine(error);
    }

    synchronized void rejected(int count) {
        rejected += count;
    }

    synchronized void counted(List<SourceCount> counts) {
        counts.forEach(count -> changed.put(count.source(), count));
    }

    synchronized void reached(Map<Position, Long> offsets) {
        offsets.forEach((place, offset) -> positions.merge(place.topic() + "/" + place.partition(), offset, Math::max));
    }

    /** Notes a transaction that is committed: from here on its rows can be seen. */
    synchronized void written(List<Item> items, Merge.Written written) {
        long nowMs = System.currentTimeMillis();
        double sumMs = 0;
        int stored = 0;
        for (Item item : items) {
            if (item.reading() != null) {
                stored++;
                sumMs += nowMs - item.reading().timestampMs();
            }
        }
        counted(written.counts());
        reached(written.offsets());
        transactions++;
        rows += stored;
        delaySumMs += sumMs;
        lastDelayMs = stored > 0 ? sumMs / stored : lastDelayMs;
    }

    /** The figures as JSON. */
    synchronized String figures(int queued) {
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("problem", problem);
        figures.put("rows", rows);
        figures.put("rejected", rejected);
        figures.put("transactions", transactions);
        figures.put("queued", queued);
        figures.put("delay_sum_ms", delaySumMs);
        figures.put("delay_ms", lastDelayMs < 0 ? null : lastDelayMs);
        figures.put("positions", positions);
        return json(figures);
    }

    /** The counts that changed since the last question, as JSON. */
    synchronized String takeChanged() {
        List<SourceCount> counts = new ArrayList<>(changed.values());
        changed.clear();
        return json(counts);
    }

    private static String json(Object value) {
        try {
            return JSON.writeValueAsString(value);
        } catch (JsonProcessingException error) {
            throw new IllegalStateException(error);
        }
    }
}
