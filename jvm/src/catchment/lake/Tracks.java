package catchment.lake;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * How far the numbers of each track have come in this task. In the order of the log the numbers of a track rise, so
 * one that does not is a repeat, or late: it has to be looked for in the table.
 */
final class Tracks {
    private static final class Track {
        private long last;
        private long firstTimeUs = Long.MAX_VALUE;
        private long lastTimeUs = Long.MIN_VALUE;
        private final List<long[]> ranges = new ArrayList<>();
        private final long first;

        Track(long first) {
            this.first = first;
            this.last = first - 1;
        }

        void add(long number, long timeUs) {
            if (ranges.isEmpty() || number != last + 1) {
                ranges.add(new long[] {number, number});
            }
            ranges.get(ranges.size() - 1)[1] = number;
            firstTimeUs = Math.min(firstTimeUs, timeUs);
            lastTimeUs = Math.max(lastTimeUs, timeUs);
        }
    }

    private final Map<String, Track> tracks = new HashMap<>();

    /** Whether a number is higher than all before it on its track. Of counted tracks every number is noted. */
    boolean advance(String name, long number, long timeUs, boolean counted) {
        Track track = tracks.computeIfAbsent(name, unused -> new Track(number));
        if (number <= track.last) {
            return false;
        }
        if (counted) {
            track.add(number, timeUs);
        }
        track.last = number;
        return true;
    }

    void report(ArrayNode reports) {
        tracks.forEach((name, track) -> {
            ObjectNode report = reports.addObject();
            report.put("track", name).put("first", track.first).put("last", track.last);
            if (!track.ranges.isEmpty()) {
                report.put("first_us", track.firstTimeUs).put("last_us", track.lastTimeUs);
                ArrayNode ranges = report.putArray("ranges");
                track.ranges.forEach(range -> ranges.addArray().add(range[0]).add(range[1]));
            }
        });
    }
}
