package queries;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Records and results of the queries, as JSON has them. */
final class Rows {
    private static final int BEST = 3;

    private Rows() {}

    static final class Packet {
        public long time;
        public long serial;
        public String host;
        public String protocol;
        public long bytes;
    }

    static final class Call {
        public long time;
        public long serial;
        public String side;
        public String device;
    }

    record Named(long serial, String host, long bits) {}

    record Answered(String device, long asked, long answered) {}

    record Count(String host, long windowStart, long packets) {}

    record Times(String word, long times) {}

    record Ranked(long windowStart, int rank, String host, long packets) {}

    /** The busiest hosts of a window, and which of them the last count changed. */
    record Busiest(List<Count> best, List<Ranked> changed) {
        static final Busiest NONE = new Busiest(List.of(), List.of());

        /** Counts only grow: who was not among the best comes back by itself. */
        Busiest with(Count count) {
            List<Count> all = new ArrayList<>(best);
            all.removeIf(each -> each.host().equals(count.host()));
            all.add(count);
            all.sort(Comparator.comparing(Count::packets).reversed().thenComparing(Count::host));
            List<Count> first = List.copyOf(all.subList(0, Math.min(BEST, all.size())));
            List<Ranked> told = new ArrayList<>();
            for (int place = 0; place < first.size(); place++) {
                Count now = first.get(place);
                if (place >= best.size() || !best.get(place).equals(now)) {
                    told.add(new Ranked(now.windowStart(), place + 1, now.host(), now.packets()));
                }
            }
            return new Busiest(first, told);
        }
    }
}
