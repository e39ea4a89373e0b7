package catchment.queries;

import catchment.control.Packed;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * All values with how often they are there: the least, the greatest, that of the first or last row, or how many
 * different ones there are. A value may be withdrawn before it comes, so that it is there -1 times for a while.
 */
final class Multiset implements Accumulator {
    private final boolean byTime;
    private final Function<Multiset, Object> result;
    private final TreeMap<Place, Long> counts = new TreeMap<>();
    private long different;

    private record Place(long timeUs, String id, Object value) implements Comparable<Place> {
        @Override
        public int compareTo(Place other) {
            int order = Long.compare(timeUs, other.timeUs);
            order = order == 0 ? id.compareTo(other.id) : order;
            return order == 0 ? Values.compare(value, other.value) : order;
        }
    }

    private Multiset(boolean byTime, Function<Multiset, Object> result) {
        this.byTime = byTime;
        this.result = result;
    }

    /** The value that comes first or last, by itself or by its row. */
    static Multiset extreme(boolean last, boolean byTime) {
        return new Multiset(byTime, all -> first(last ? all.counts.descendingMap() : all.counts));
    }

    static Multiset distinct() {
        return new Multiset(false, all -> all.different);
    }

    private static Object first(NavigableMap<Place, Long> counts) {
        for (Map.Entry<Place, Long> each : counts.entrySet()) {
            if (each.getValue() > 0) {
                return each.getKey().value;
            }
        }
        return null;
    }

    @Override
    public void add(Object value, int sign, long timeUs, String id) {
        if (value != null) {
            Place place = byTime ? new Place(timeUs, id, value) : new Place(0, "", value);
            note(place, counts.getOrDefault(place, 0L) + sign);
        }
    }

    private void note(Place place, long count) {
        Long before = count == 0 ? counts.remove(place) : counts.put(place, count);
        different += (count > 0 ? 1 : 0) - (before != null && before > 0 ? 1 : 0);
    }

    @Override
    public Object result() {
        return result.apply(this);
    }

    @Override
    public void write(Packed out) {
        out.writeLong(counts.size());
        counts.forEach((place, count) -> {
            out.writeLong(place.timeUs);
            out.writeText(place.id);
            Values.write(out, place.value);
            out.writeLong(count);
        });
    }

    @Override
    public void read(Packed in) {
        for (long left = in.readLong(); left > 0; left--) {
            note(new Place(in.readLong(), in.readText(), Values.read(in)), in.readLong());
        }
    }
}
