package catchment.queries;

import catchment.control.Packed;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;

/** Aggregates whose windows depend on the rows themselves: all rows of a group are kept until they are old. */
abstract class KeptRows<G extends KeptRows.Group> implements Fold {
    private static final byte CLOCK = 'c';

    final AggregateSpec spec;
    final Clock clock;
    private final Map<Object, G> groups = new HashMap<>();
    private final Set<G> changed = new HashSet<>();
    private final Packed packed = new Packed(256);

    /** The rows of a group; what was made of them is known once all are back from the state. */
    abstract static class Group {
        final Object[] values;
        final String text;
        final Rows rows = new Rows();
        private boolean isComplete;

        Group(Object[] values) {
            this.values = values;
            this.text = AggregateSpec.text(values);
        }
    }

    KeptRows(AggregateSpec spec) {
        this.spec = spec;
        this.clock = spec.clock();
    }

    abstract G start(Object[] values);

    /** Finds the windows of all rows of a group that came back from the state; what was to be told of them was. */
    abstract void complete(G group);

    abstract void take(G group, Change change, long timeUs, Results results);

    /** The clock has gone on without rows. */
    abstract void tick(G group, long now, Results results);

    /** Lets go of rows that are old; what else has to be kept of the group goes to the entries. */
    abstract void forget(G group, BiConsumer<byte[], byte[]> entries);

    /** Whether nothing more needs to be known of a group. */
    abstract boolean isOver(G group);

    @Override
    public final void take(Change change, Results results) {
        Long timeUs = spec.timeOf(change);
        if (timeUs == null) {
            results.refuse(change, "it has no time");
        } else {
            take(whole(groupOf(spec.groupOf(change))), change, timeUs, results);
        }
    }

    @Override
    public final void tick(long now, Results results) {
        if (clock.tick(now) && spec.isFinal()) {
            groups.values().forEach(group -> tick(whole(group), now, results));
        }
    }

    /** Adds or withdraws a row. */
    final Rows.Shift add(G group, Change change, long timeUs) {
        changed.add(group);
        return group.rows.add(new Placed(timeUs, change.id(), spec.argumentsOf(change)), change.sign());
    }

    /** Tells a result in the place of what was told before, which may be null. */
    final void replace(String id, Object[] before, Object[] row, long originUs, Results results) {
        if (Arrays.deepEquals(before, row)) {
            return;
        }
        if (before != null && !spec.upserts()) {
            results.give(-1, id, originUs, before.clone());
        }
        results.give(1, id, originUs, row.clone());
    }

    final G groupOf(Object[] values) {
        return groups.computeIfAbsent(Values.key(values), key -> start(values));
    }

    private G whole(G group) {
        Group known = group;
        if (!known.isComplete) {
            known.isComplete = true;
            complete(group);
        }
        return group;
    }

    final void noteChange(G group) {
        changed.add(group);
    }

    @Override
    public void restore(byte[] key, byte[] value) {
        Rows.Owner owner = Rows.ownerOf(key);
        if (owner != null) {
            groupOf(owner.group()).rows.restore(value);
        } else {
            clock.read(new Packed(value));
        }
    }

    @Override
    public final void save(BiConsumer<byte[], byte[]> entries) {
        if (clock.giveUp(System.currentTimeMillis())) {
            groups.values().forEach(group -> forget(whole(group), entries));
        }
        changed.forEach(group -> group.rows.save(group.values, 0, packed, entries));
        changed.stream().filter(this::isOver).forEach(group -> groups.remove(Values.key(group.values)));
        changed.clear();
        packed.clear();
        clock.write(packed);
        entries.accept(new byte[] {CLOCK}, packed.toBytes());
    }
}
