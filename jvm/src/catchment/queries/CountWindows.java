package catchment.queries;

import catchment.control.Packed;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/**
 * Aggregates over windows of so many rows, in the order of their times, of which one begins every so many rows. A
 * window is there as soon as it is full; a row that comes late moves all that are after it.
 */
final class CountWindows extends KeptRows<CountWindows.Numbered> {
    private static final byte GROUP = 'g';

    static final class Numbered extends KeptRows.Group {
        /** Those that are there, by their number. */
        private final List<Placed> present = new ArrayList<>();
        private final TreeMap<Long, Object[]> told = new TreeMap<>();
        /** How many rows were let go of, and when the last of them was. */
        private long gone;
        private long goneUs = Clock.NEVER;

        private Numbered(Object[] values) {
            super(values);
        }
    }

    CountWindows(AggregateSpec spec) {
        super(spec);
    }

    @Override
    Numbered start(Object[] values) {
        return new Numbered(values);
    }

    @Override
    void take(Numbered group, Change change, long timeUs, Results results) {
        boolean late = !clock.hear(timeUs) && clock.hasPassed(timeUs);
        if (timeUs <= group.goneUs || late && spec.setsLateAside()) {
            results.setAside(change, "its window is closed");
            return;
        }
        if (late) {
            results.noteLate();
        }
        Rows.Shift shift = add(group, change, timeUs);
        long first = Long.MAX_VALUE;
        if (shift.out() != null) {
            int place = Collections.binarySearch(group.present, shift.out());
            group.present.remove(place);
            first = place;
        }
        if (shift.in() != null) {
            int place = -Collections.binarySearch(group.present, shift.in()) - 1;
            group.present.add(place, shift.in());
            first = Math.min(first, place);
        }
        if (first < Long.MAX_VALUE) {
            tell(group, group.gone + first, change.originUs(), results);
        }
    }

    /** Tells of all windows that have a row with this number, or one after it. */
    private void tell(Numbered group, long number, long originUs, Results results) {
        long first = Math.max(firstHeld(group), Math.floorDiv(number - spec.rows(), spec.advanceRows()) + 1);
        for (long index = Math.max(0, first); isToBeTold(group, index); index++) {
            Object[] row = rowOf(group, index);
            replace(idOf(group, index), group.told.put(index, row), row, originUs, results);
        }
        while (!group.told.isEmpty() && !isToBeTold(group, group.told.lastKey())) {
            Map.Entry<Long, Object[]> last = group.told.pollLastEntry();
            results.give(-1, idOf(group, last.getKey()), originUs, last.getValue().clone());
        }
    }

    private boolean isToBeTold(Numbered group, long index) {
        long last = index * spec.advanceRows() + spec.rows() - 1 - group.gone;
        return last < group.present.size()
                && (!spec.isFinal() || clock.hasPassed(group.present.get((int) last).timeUs()));
    }

    /** The first window of which all rows are still there. */
    private long firstHeld(Numbered group) {
        return -Math.floorDiv(-group.gone, (long) spec.advanceRows());
    }

    private Object[] rowOf(Numbered group, long index) {
        int from = (int) (index * spec.advanceRows() - group.gone);
        List<Placed> rows = group.present.subList(from, from + spec.rows());
        Accumulator[] values = spec.start();
        for (Placed row : rows) {
            for (int each = 0; each < values.length; each++) {
                values[each].add(row.values()[each], 1, row.timeUs(), row.id());
            }
        }
        long startUs = rows.get(0).timeUs();
        return spec.row(group.values, values, startUs, rows.get(rows.size() - 1).timeUs(), index);
    }

    private static String idOf(Numbered group, long index) {
        return group.text + "#" + index;
    }

    @Override
    void tick(Numbered group, long now, Results results) {
        long next = group.told.isEmpty() ? firstHeld(group) : group.told.lastKey() + 1;
        tell(group, next * spec.advanceRows() + spec.rows() - 1, now * 1_000, results);
    }

    @Override
    void complete(Numbered group) {
        group.present.addAll(group.rows.present());
        for (long index = firstHeld(group); isToBeTold(group, index); index++) {
            group.told.put(index, rowOf(group, index));
        }
    }

    @Override
    public void restore(byte[] key, byte[] value) {
        if (key[0] != GROUP) {
            super.restore(key, value);
            return;
        }
        Packed name = new Packed(key);
        name.readByte();
        Numbered group = groupOf(Values.readAll(name));
        Packed in = new Packed(value);
        group.gone = in.readLong();
        group.goneUs = in.readLong();
    }

    @Override
    boolean isOver(Numbered group) {
        return false;
    }

    /** Lets go of rows all of whose windows are told, and old. */
    @Override
    void forget(Numbered group, BiConsumer<byte[], byte[]> entries) {
        long before = group.gone;
        while (!group.told.isEmpty() && isOld(group)) {
            long index = group.told.pollFirstEntry().getKey();
            long next = (index + 1) * spec.advanceRows();
            while (group.gone < next && !group.present.isEmpty()) {
                Placed row = group.present.remove(0);
                group.rows.forget(row);
                group.gone++;
                group.goneUs = Math.max(group.goneUs, row.timeUs());
            }
        }
        if (group.gone > before) {
            noteChange(group);
            entries.accept(keyOf(group), bytesOf(group));
        }
    }

    private boolean isOld(Numbered group) {
        int last = (int) (group.told.firstKey() * spec.advanceRows() + spec.rows() - 1 - group.gone);
        return clock.gaveUp(group.present.get(last).timeUs());
    }

    private static byte[] keyOf(Numbered group) {
        Packed packed = new Packed(64);
        packed.writeByte(GROUP);
        Values.write(packed, group.values);
        return packed.toBytes();
    }

    private static byte[] bytesOf(Numbered group) {
        Packed packed = new Packed(32);
        packed.writeLong(group.gone);
        packed.writeLong(group.goneUs);
        return packed.toBytes();
    }
}
