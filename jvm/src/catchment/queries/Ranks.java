package catchment.queries;

import catchment.control.Packed;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;

/** The first rows of each group. A result is a place, and who has it. */
final class Ranks implements Fold {
    private static final long BETWEEN_LOOKS_MS = 1_000;

    private final TopSpec spec;
    private final Map<Object, Group> groups = new HashMap<>();
    private final Set<Group> changed = new HashSet<>();
    private final Packed packed = new Packed(256);
    private long nowMs = System.currentTimeMillis();

    private static final class Group {
        private final Object[] values;
        private final String text;
        private final Rows rows;
        private final Placed[] first;
        private long touchedMs;
        private boolean isComplete;

        private Group(Object[] values, TopSpec spec) {
            this.values = values;
            this.text = AggregateSpec.text(values);
            this.rows = new Rows(spec.order());
            this.first = new Placed[spec.limit()];
        }
    }

    Ranks(TopSpec spec) {
        this.spec = spec;
    }

    @Override
    public void take(Change change, Results results) {
        Object[] values = change.range(spec.firstGroup(), spec.groups(), 0);
        Group group = groups.computeIfAbsent(Values.key(values), key -> new Group(values, spec));
        complete(group);
        Placed row = new Placed(0, change.id(), change.range(spec.firstColumn(), spec.columns(), 0));
        Rows.Shift shift = spec.replaces()
                ? group.rows.replace(change.id(), change.sign() > 0 ? row : null)
                : group.rows.add(row, change.sign());
        group.touchedMs = nowMs;
        changed.add(group);
        if (shift.in() != null || shift.out() != null) {
            rank(group, change.originUs(), results);
        }
    }

    private void rank(Group group, long originUs, Results results) {
        Iterator<Placed> rows = group.rows.present().iterator();
        for (int place = 0; place < group.first.length; place++) {
            Placed before = group.first[place];
            Placed now = rows.hasNext() ? rows.next() : null;
            group.first[place] = now;
            if (before != null && now == null || before != null && !spec.upserts() && !same(before, now)) {
                results.give(-1, group.text + "#" + (place + 1), originUs, row(before, place));
            }
            if (now != null && !same(before, now)) {
                results.give(1, group.text + "#" + (place + 1), originUs, row(now, place));
            }
        }
        if (spec.appendOnly() && rows.hasNext()) {
            group.rows.forget(rows.next());
        }
    }

    private static boolean same(Placed before, Placed now) {
        return before == now || before != null && now != null && Arrays.deepEquals(before.values(), now.values());
    }

    private Object[] row(Placed placed, int place) {
        Object[] row = new Object[Change.META + spec.columns() + 1];
        System.arraycopy(placed.values(), 0, row, Change.META, spec.columns());
        row[row.length - 1] = place + 1;
        return row;
    }

    /** Once all rows are back from the state, their ranks are known, and were told. */
    private void complete(Group group) {
        if (group.isComplete) {
            return;
        }
        group.isComplete = true;
        Iterator<Placed> rows = group.rows.present().iterator();
        for (int place = 0; place < group.first.length && rows.hasNext(); place++) {
            group.first[place] = rows.next();
        }
    }

    @Override
    public void restore(byte[] key, byte[] value) {
        Rows.Owner owner = Rows.ownerOf(key);
        Group group = groups.computeIfAbsent(Values.key(owner.group()), each -> new Group(owner.group(), spec));
        group.touchedMs = nowMs;
        group.rows.restore(value);
    }

    @Override
    public void save(BiConsumer<byte[], byte[]> entries) {
        for (Group group : changed) {
            group.rows.save(group.values, 0, packed, entries);
            if (group.rows.isEmpty()) {
                groups.remove(Values.key(group.values));
            }
        }
        changed.clear();
        long now = System.currentTimeMillis();
        if (spec.keepMs() > 0 && now - nowMs >= BETWEEN_LOOKS_MS) {
            groups.values().removeIf(group -> isForgotten(group, now, entries));
        }
        nowMs = now - nowMs >= BETWEEN_LOOKS_MS ? now : nowMs;
    }

    private boolean isForgotten(Group group, long now, BiConsumer<byte[], byte[]> entries) {
        if (group.touchedMs + spec.keepMs() > now) {
            return false;
        }
        List.copyOf(group.rows.present()).forEach(group.rows::forget);
        group.rows.save(group.values, 0, packed, entries);
        return true;
    }
}
