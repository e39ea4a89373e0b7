package catchment.queries;

import catchment.control.Packed;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;

/**
 * Rows that are kept, of which there is at most one of an id.
 *
 * <p>Changes of an id may come in any order: a row may be withdrawn before it comes, and its successor before that.
 * Ids of which this is so are unsettled until all has come; meanwhile any of their rows stands for them.
 */
class Rows {
    private static final byte ROW = 'r';
    private static final Shift NOTHING = new Shift(null, null);

    private final NavigableSet<Placed> present;
    private final Map<String, Placed> byId = new HashMap<>();
    private final Map<String, TreeMap<Placed, Integer>> unsettled = new HashMap<>();
    private final Set<String> changed = new HashSet<>();

    /** What a change comes to: a row that is not there any more, and one that is there now; each may be null. */
    record Shift(Placed out, Placed in) {}

    /** Rows in the order of time. */
    Rows() {
        this(Comparator.naturalOrder());
    }

    Rows(Comparator<Placed> order) {
        present = new TreeSet<>(order);
    }

    Shift add(Placed row, int sign) {
        String id = row.id();
        Placed before = byId.get(id);
        changed.add(id);
        TreeMap<Placed, Integer> weights = unsettled.get(id);
        if (weights == null) {
            if (sign > 0 && before == null) {
                return shift(id, null, row);
            }
            if (sign < 0 && before != null && before.compareTo(row) == 0) {
                return shift(id, before, null);
            }
            weights = new TreeMap<>();
            if (before != null) {
                weights.put(before, 1);
            }
            unsettled.put(id, weights);
        }
        weights.merge(row, sign, (one, other) -> one + other == 0 ? null : (Integer) (one + other));
        Placed now = standing(before, weights);
        if (weights.isEmpty() || weights.size() == 1 && weights.firstEntry().getValue() == 1) {
            unsettled.remove(id);
        }
        return shift(id, before, now);
    }

    /** Puts a row in the place of the one of its id, if there is one; none if it is null. */
    Shift replace(String id, Placed row) {
        changed.add(id);
        return shift(id, byId.get(id), row);
    }

    /** The row that stands for an id: the one that did, if it is still there. */
    private static Placed standing(Placed before, TreeMap<Placed, Integer> weights) {
        if (before != null && weights.getOrDefault(before, 0) > 0) {
            return before;
        }
        return weights.entrySet().stream()
                .filter(each -> each.getValue() > 0)
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(null);
    }

    private Shift shift(String id, Placed out, Placed in) {
        if (out == in) {
            return NOTHING;
        }
        if (out != null) {
            present.remove(out);
            byId.remove(id);
        }
        if (in != null) {
            present.add(in);
            byId.put(id, in);
        }
        return new Shift(out, in);
    }

    /** Those that are there, in order. */
    final NavigableSet<Placed> present() {
        return present;
    }

    boolean isEmpty() {
        return byId.isEmpty() && unsettled.isEmpty();
    }

    /** Lets go of a row. */
    void forget(Placed row) {
        shift(row.id(), row, null);
        unsettled.remove(row.id());
        changed.add(row.id());
    }

    /** Gives away the entries of all ids that changed since the last time. */
    void save(Object[] group, int side, Packed packed, BiConsumer<byte[], byte[]> entries) {
        for (String id : changed) {
            byte[] key = key(group, side, id, packed);
            Map<Placed, Integer> weights = weightsOf(id);
            packed.clear();
            weights.forEach((row, weight) -> {
                row.write(packed);
                packed.writeLong(weight);
            });
            entries.accept(key, weights.isEmpty() ? null : packed.toBytes());
        }
        settle();
    }

    /** Notes that the state has all that there is. */
    void settle() {
        changed.clear();
    }

    static byte[] key(Object[] group, int side, String id, Packed packed) {
        packed.clear();
        packed.writeByte(ROW);
        Values.write(packed, group);
        packed.writeLong(side);
        packed.writeText(id);
        return packed.toBytes();
    }

    private Map<Placed, Integer> weightsOf(String id) {
        Map<Placed, Integer> weights = unsettled.get(id);
        if (weights != null) {
            return weights;
        }
        Placed row = byId.get(id);
        return row == null ? Map.of() : Map.of(row, 1);
    }

    /** Takes the rows of an entry over. */
    void restore(byte[] value) {
        Packed in = new Packed(value);
        while (!in.isAtEnd()) {
            Placed row = Placed.read(in);
            for (long weight = in.readLong(); weight != 0; weight -= Long.signum(weight)) {
                add(row, Long.signum(weight));
            }
        }
        settle();
    }

    /** Whose an entry of rows is; null if it is another one. */
    static Owner ownerOf(byte[] key) {
        if (key[0] != ROW) {
            return null;
        }
        Packed in = new Packed(key);
        in.readByte();
        return new Owner(Values.readAll(in), (int) in.readLong());
    }

    record Owner(Object[] group, int side) {}
}
