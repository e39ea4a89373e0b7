package catchment.store;

import java.util.HashMap;
import java.util.Map;

/** What of one source is in the store: readings that are new to it, and such as it had already. */
public record SourceCount(
        String source, long received, long highest, long repeated, long firstOriginUs, long lastOriginUs) {

    /** Both together. */
    public SourceCount plus(SourceCount other) {
        return new SourceCount(
                source,
                received + other.received,
                Math.max(highest, other.highest),
                repeated + other.repeated,
                Math.min(firstOriginUs, other.firstOriginUs),
                Math.max(lastOriginUs, other.lastOriginUs));
    }

    /** Counts by source. */
    static final class Counts {
        private final Map<String, SourceCount> bySource = new HashMap<>();

        void add(StampKey stamp, boolean isNew) {
            SourceCount one = new SourceCount(
                    stamp.source(), isNew ? 1 : 0, stamp.sequence(), isNew ? 0 : 1, stamp.originUs(), stamp.originUs());
            bySource.merge(stamp.source(), one, SourceCount::plus);
        }

        Map<String, SourceCount> all() {
            return bySource;
        }
    }
}
