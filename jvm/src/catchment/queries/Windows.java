package catchment.queries;

import catchment.control.Packed;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/** Aggregates over windows of time that begin at fixed moments, or over all rows for ever. */
final class Windows implements Fold {
    private static final byte[] CLOCK = {'c'};

    private final AggregateSpec spec;
    private final Clock clock;
    private final Map<Object, Group> groups = new HashMap<>();
    /** Those that are not closed yet, by their ends; only if results wait for that. */
    private final TreeMap<Long, List<Window>> open = new TreeMap<>();
    private final List<Window> changed = new ArrayList<>();
    private final Packed packed = new Packed(256);

    private static final class Group {
        private final Object[] values;
        private final String text;
        private final Map<Long, Window> windows = new HashMap<>(4);
        private Window latest;

        private Group(Object[] values) {
            this.values = values;
            this.text = AggregateSpec.text(values);
        }
    }

    private static final class Window {
        private final Group group;
        private final long startUs;
        private final String id;
        private final Accumulator[] values;
        private long rows;
        private boolean told;
        private boolean isChanged;

        private Window(Group group, long startUs, String id, Accumulator[] values) {
            this.group = group;
            this.startUs = startUs;
            this.id = id;
            this.values = values;
        }
    }

    Windows(AggregateSpec spec) {
        this.spec = spec;
        this.clock = spec.clock();
    }

    @Override
    public void take(Change change, Results results) {
        Long timeUs = spec.timeOf(change);
        if (timeUs == null && spec.windowed()) {
            results.refuse(change, "it has no time");
            return;
        }
        Object[] values = spec.groupOf(change);
        Group group = groups.computeIfAbsent(Values.key(values), key -> new Group(values));
        if (!spec.windowed()) {
            apply(window(group, 0), change, timeUs == null ? 0 : timeUs, results);
            return;
        }
        boolean further = clock.hear(timeUs);
        place(group, change, timeUs, results);
        if (further) {
            close(change.originUs(), results);
        }
    }

    private void place(Group group, Change change, long timeUs, Results results) {
        boolean late = false;
        boolean refused = false;
        long first = Math.floorDiv(timeUs, spec.advanceUs()) * spec.advanceUs();
        for (long startUs = first; startUs > timeUs - spec.sizeUs(); startUs -= spec.advanceUs()) {
            long endUs = startUs + spec.sizeUs();
            boolean closed = clock.hasPassed(endUs);
            boolean forgotten = clock.gaveUp(endUs);
            late |= closed;
            refused |= forgotten || closed && spec.setsLateAside();
            if (!forgotten && !(closed && spec.setsLateAside())) {
                apply(window(group, startUs), change, timeUs, results);
            }
        }
        if (refused) {
            results.setAside(change, spec.setsLateAside() ? "its window is closed" : "its window was given up");
        } else if (late) {
            results.noteLate();
        }
    }

    private Window window(Group group, long startUs) {
        Window window = group.latest;
        if (window != null && window.startUs == startUs) {
            return window;
        }
        window = group.windows.get(startUs);
        if (window == null) {
            window = started(group, startUs);
            awaitEnd(window);
        }
        group.latest = window;
        return window;
    }

    private Window started(Group group, long startUs) {
        String id = spec.windowed() ? group.text + "@" + startUs : group.text;
        Window window = new Window(group, startUs, id, spec.start());
        group.windows.put(startUs, window);
        return window;
    }

    private void awaitEnd(Window window) {
        if (spec.isFinal()) {
            open.computeIfAbsent(window.startUs + spec.sizeUs(), end -> new ArrayList<>()).add(window);
        }
    }

    private void apply(Window window, Change change, long timeUs, Results results) {
        boolean tells = !spec.isFinal() || clock.hasPassed(window.startUs + spec.sizeUs());
        Object[] before = tells && window.told && !spec.upserts() ? row(window) : null;
        window.rows += change.sign();
        List<Function> functions = spec.functions();
        for (int each = 0; each < window.values.length; each++) {
            int column = functions.get(each).column();
            Object value = column < 0 ? Boolean.TRUE : change.get(column);
            window.values[each].add(value, change.sign(), timeUs, change.id());
        }
        if (tells) {
            tell(window, before, change.originUs(), results);
        }
        note(window);
    }

    private void note(Window window) {
        if (!window.isChanged) {
            window.isChanged = true;
            changed.add(window);
        }
    }

    private void tell(Window window, Object[] before, long originUs, Results results) {
        boolean there = window.rows > 0;
        if (!there && !window.told) {
            return;
        }
        Object[] now = row(window);
        if (there && before != null && Arrays.deepEquals(before, now)) {
            return;
        }
        if (before != null || !there) {
            results.give(-1, window.id, originUs, before == null ? now.clone() : before);
        }
        if (there) {
            results.give(1, window.id, originUs, now);
        }
        window.told = there;
    }

    private Object[] row(Window window) {
        Object[] group = window.group.values;
        return spec.windowed()
                ? spec.row(group, window.values, window.startUs, window.startUs + spec.sizeUs())
                : spec.row(group, window.values);
    }

    @Override
    public void tick(long now, Results results) {
        if (clock.tick(now)) {
            close(now * 1_000, results);
        }
    }

    private void close(long originUs, Results results) {
        while (!open.isEmpty() && clock.hasPassed(open.firstKey())) {
            for (Window window : open.pollFirstEntry().getValue()) {
                if (!window.told) {
                    tell(window, null, originUs, results);
                    note(window);
                }
            }
        }
    }

    @Override
    public void restore(byte[] key, byte[] value) {
        Packed in = new Packed(value);
        if (Arrays.equals(key, CLOCK)) {
            clock.read(in);
            return;
        }
        Packed name = new Packed(key);
        name.readByte();
        Object[] values = Values.readAll(name);
        Group group = groups.computeIfAbsent(Values.key(values), each -> new Group(values));
        Window window = started(group, name.readLong());
        window.rows = in.readLong();
        window.told = in.readByte() == 1;
        for (Accumulator each : window.values) {
            each.read(in);
        }
        if (!window.told) {
            awaitEnd(window);
        }
    }

    @Override
    public void save(BiConsumer<byte[], byte[]> entries) {
        for (Window window : changed) {
            window.isChanged = false;
            if (window.rows == 0) {
                remove(window);
            }
            entries.accept(keyOf(window), window.rows == 0 ? null : bytesOf(window));
        }
        changed.clear();
        if (clock.giveUp(System.currentTimeMillis())) {
            forget(entries);
        }
        packed.clear();
        clock.write(packed);
        entries.accept(CLOCK, packed.toBytes());
    }

    private void remove(Window window) {
        Group group = window.group;
        group.windows.remove(window.startUs);
        group.latest = null;
        if (group.windows.isEmpty()) {
            groups.remove(Values.key(group.values));
        }
    }

    /** Lets go of windows that nobody has to expect a change of any more. */
    private void forget(BiConsumer<byte[], byte[]> entries) {
        for (Iterator<Group> each = groups.values().iterator(); each.hasNext(); ) {
            Group group = each.next();
            group.windows.values().removeIf(window -> {
                boolean old = spec.windowed() && clock.gaveUp(window.startUs + spec.sizeUs());
                if (old) {
                    entries.accept(keyOf(window), null);
                }
                return old;
            });
            group.latest = null;
            if (group.windows.isEmpty()) {
                each.remove();
            }
        }
    }

    private byte[] keyOf(Window window) {
        packed.clear();
        packed.writeByte('w');
        Values.write(packed, window.group.values);
        packed.writeLong(window.startUs);
        return packed.toBytes();
    }

    private byte[] bytesOf(Window window) {
        packed.clear();
        packed.writeLong(window.rows);
        packed.writeByte(window.told ? 1 : 0);
        for (Accumulator each : window.values) {
            each.write(packed);
        }
        return packed.toBytes();
    }
}
