package catchment.queries;

import catchment.control.Packed;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * Makes changes of a topic that has the newest version of each key: a newer one replaces the one before, and one
 * without a value withdraws it.
 */
final class Newest implements Fold {
    private static final long TOMBSTONES_MS = 3_600_000;
    private static final long BETWEEN_LOOKS_MS = 60_000;

    private final int versionColumn;
    private final int columns;
    private final Map<String, Latest> latest = new HashMap<>();
    private final Set<String> changed = new HashSet<>();
    private final Packed packed = new Packed(256);
    private long lookedMs = System.currentTimeMillis();

    /** The newest version of a key; without values if it was withdrawn, at the time `goneMs`. */
    private record Latest(long version, Object[] values, long goneMs) {}

    /** The version is followed by the columns of the row. */
    Newest(int versionColumn, int columns) {
        this.versionColumn = versionColumn;
        this.columns = columns;
    }

    @Override
    public void take(Change change, Results results) {
        long version = (Long) change.get(versionColumn);
        Latest before = latest.get(change.id());
        if (before != null && version <= before.version) {
            return;
        }
        boolean there = change.sign() > 0;
        Object[] values = there ? change.range(versionColumn + 1, columns, 0) : null;
        latest.put(change.id(), new Latest(version, values, there ? 0 : System.currentTimeMillis()));
        changed.add(change.id());
        Object[] old = before == null ? null : before.values;
        if (Arrays.deepEquals(old, values)) {
            return;
        }
        if (old != null) {
            results.give(-1, change.id(), change.originUs(), row(old));
        }
        if (values != null) {
            results.give(1, change.id(), change.originUs(), row(values));
        }
    }

    private static Object[] row(Object[] values) {
        Object[] row = new Object[Change.META + values.length];
        System.arraycopy(values, 0, row, Change.META, values.length);
        return row;
    }

    @Override
    public void restore(byte[] key, byte[] value) {
        Packed in = new Packed(value);
        long version = in.readLong();
        long goneMs = in.readLong();
        Object[] values = goneMs == 0 ? Values.readAll(in) : null;
        latest.put(new String(key, StandardCharsets.UTF_8), new Latest(version, values, goneMs));
    }

    @Override
    public void save(BiConsumer<byte[], byte[]> entries) {
        for (String id : changed) {
            Latest each = latest.get(id);
            packed.clear();
            packed.writeLong(each.version);
            packed.writeLong(each.goneMs);
            if (each.values != null) {
                Values.write(packed, each.values);
            }
            entries.accept(id.getBytes(StandardCharsets.UTF_8), packed.toBytes());
        }
        changed.clear();
        long now = System.currentTimeMillis();
        if (now - lookedMs < BETWEEN_LOOKS_MS) {
            return;
        }
        lookedMs = now;
        long agoMs = now - TOMBSTONES_MS;
        latest.entrySet().removeIf(each -> {
            boolean old = each.getValue().values == null && each.getValue().goneMs < agoMs;
            if (old) {
                entries.accept(each.getKey().getBytes(StandardCharsets.UTF_8), null);
            }
            return old;
        });
    }
}
