package catchment.queries;

import catchment.control.Packed;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.function.BiConsumer;

/** Joins two streams: pairs of rows with the same key that are near enough in time. */
final class Pairs implements Fold {
    private static final int LEFT = 0;
    private static final int RIGHT = 1;
    private static final byte[] CLOCK = {'c'};

    private final JoinSpec spec;
    private final Clock clock;
    private final Map<Object, Both> keys = new HashMap<>();
    private final Set<Both> changed = new HashSet<>();
    private final Packed packed = new Packed(256);

    private static final class Both {
        private final Object[] key;
        private final Rows[] sides;

        private Both(Object[] key, JoinSpec spec) {
            this.key = key;
            this.sides = new Rows[] {rows(spec.leftsUpdate()), rows(spec.rightsUpdate())};
        }
    }

    private static Rows rows(boolean update) {
        return update ? new Rows() : new OnlyAdded();
    }

    Pairs(JoinSpec spec) {
        this.spec = spec;
        this.clock = new Clock(spec.withinUs(), 0, spec.keepMs());
    }

    @Override
    public void take(Change change, Results results) {
        int side = (Integer) change.get(spec.sideColumn());
        Long timeUs = (Long) change.get(spec.timeColumn());
        if (timeUs == null) {
            results.refuse(change, "it has no time");
            return;
        }
        Object[] values = side == LEFT
                ? change.range(spec.firstLeft(), spec.lefts(), 0)
                : change.range(spec.firstRight(), spec.rights(), 0);
        Placed row = new Placed(timeUs, change.id(), values);
        Object[] key = change.range(spec.firstKey(), spec.keys(), 0);
        if (hasNull(key)) {
            // What is not known equals nothing.
            if (side == LEFT && spec.outer()) {
                give(change.sign(), row, null, change.originUs(), results);
            }
            return;
        }
        clock.hear(timeUs);
        if (clock.gaveUp(timeUs)) {
            results.setAside(change, "rows of its time were given up");
            return;
        }
        place(keys.computeIfAbsent(Values.key(key), each -> new Both(key, spec)), side, row, change, results);
    }

    private static boolean hasNull(Object[] key) {
        for (Object each : key) {
            if (each == null) {
                return true;
            }
        }
        return false;
    }

    private void place(Both both, int side, Placed row, Change change, Results results) {
        Rows.Shift shift = both.sides[side].add(row, change.sign());
        changed.add(both);
        if (shift.out() != null) {
            pair(both, side, shift.out(), -1, change.originUs(), results);
        }
        if (shift.in() != null) {
            pair(both, side, shift.in(), 1, change.originUs(), results);
        }
    }

    private void pair(Both both, int side, Placed row, int sign, long originUs, Results results) {
        if (side == LEFT) {
            NavigableSet<Placed> partners = near(both.sides[RIGHT], row.timeUs());
            partners.forEach(right -> give(sign, row, right, originUs, results));
            if (spec.outer() && partners.isEmpty()) {
                give(sign, row, null, originUs, results);
            }
            return;
        }
        for (Placed left : near(both.sides[LEFT], row.timeUs())) {
            // A row that is alone is told as such; with the first partner it is not alone any more.
            boolean others = spec.outer() && hasOthers(both, left, sign);
            if (spec.outer() && !others && sign > 0) {
                give(-1, left, null, originUs, results);
            }
            give(sign, left, row, originUs, results);
            if (spec.outer() && !others && sign < 0) {
                give(1, left, null, originUs, results);
            }
        }
    }

    /** Whether a row of the left has partners besides the one that just came or went. */
    private boolean hasOthers(Both both, Placed left, int sign) {
        var partners = near(both.sides[RIGHT], left.timeUs()).iterator();
        if (sign > 0 && partners.hasNext()) {
            partners.next();
        }
        return partners.hasNext();
    }

    private NavigableSet<Placed> near(Rows rows, long timeUs) {
        Placed from = Placed.at(timeUs - spec.withinUs());
        return rows.present().subSet(from, true, Placed.at(timeUs + spec.withinUs() + 1), false);
    }

    private void give(int sign, Placed left, Placed right, long originUs, Results results) {
        results.give(sign, JoinSpec.id(left, right), originUs, spec.row(left, right));
    }

    @Override
    public void restore(byte[] key, byte[] value) {
        Rows.Owner owner = Rows.ownerOf(key);
        if (owner == null) {
            clock.read(new Packed(value));
            return;
        }
        Both both = keys.computeIfAbsent(Values.key(owner.group()), each -> new Both(owner.group(), spec));
        both.sides[owner.side()].restore(value);
    }

    @Override
    public void save(BiConsumer<byte[], byte[]> entries) {
        if (clock.giveUp(System.currentTimeMillis())) {
            keys.values().forEach(this::forget);
        }
        for (Both both : changed) {
            both.sides[LEFT].save(both.key, LEFT, packed, entries);
            both.sides[RIGHT].save(both.key, RIGHT, packed, entries);
            if (both.sides[LEFT].isEmpty() && both.sides[RIGHT].isEmpty()) {
                keys.remove(Values.key(both.key));
            }
        }
        changed.clear();
        packed.clear();
        clock.write(packed);
        entries.accept(CLOCK, packed.toBytes());
    }

    /** Lets go of rows that no partner is expected for any more. */
    private void forget(Both both) {
        if (clock.horizonUs() == Clock.NEVER) {
            return;
        }
        Placed end = Placed.at(clock.horizonUs() + 1);
        for (Rows side : both.sides) {
            for (Placed row : List.copyOf(side.present().headSet(end))) {
                side.forget(row);
                changed.add(both);
            }
        }
    }
}
