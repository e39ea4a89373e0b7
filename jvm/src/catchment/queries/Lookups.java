package catchment.queries;

import catchment.control.Packed;
import catchment.queries.TableSpec.Stored;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * Joins a stream with a table that people declare, as it is when a row comes.
 *
 * <p>Entries of the table come to every shard, as changes whose id is the entry's key. What the driver read before
 * the query started is at least as new as the state, and lacks what was removed meanwhile; a shard takes it over once
 * for every start.
 */
final class Lookups implements Fold {
    private static final byte[] GENERATION = {'g'};
    private static final byte ENTRY = 'e';

    private final TableSpec spec;
    private final StoredTable table;
    private final Map<String, Stored> entries = new HashMap<>();
    private final Set<String> changed = new HashSet<>();
    private long generation;

    Lookups(TableSpec spec) {
        this.spec = spec;
        this.table = new StoredTable(spec);
    }

    @Override
    public void take(Change change, Results results) {
        if (change.get(spec.entryColumn()) != null || change.get(spec.offsetColumn()) != null) {
            hear(change);
            return;
        }
        var found = table.find(change.range(spec.firstKey(), spec.on().length, 0));
        found.forEach(each -> give(change, each.getKey(), each.getValue(), results));
        if (found.isEmpty() && spec.outer()) {
            give(change, "", new Object[spec.names().size()], results);
        }
    }

    private void hear(Change change) {
        long offset = (Long) change.get(spec.offsetColumn());
        Stored before = entries.get(change.id());
        if (before == null || before.offset() < offset) {
            learn(change.id(), new Stored(offset, (byte[]) change.get(spec.entryColumn())));
        }
    }

    private void learn(String name, Stored entry) {
        entries.put(name, entry);
        changed.add(name);
        table.learn(name, entry.value());
    }

    private void give(Change change, String name, Object[] stored, Results results) {
        Object[] row = change.range(spec.firstLeft(), spec.lefts(), Change.META);
        row = Arrays.copyOf(row, row.length + spec.names().size());
        System.arraycopy(stored, 0, row, Change.META + spec.lefts(), spec.names().size());
        results.give(change.sign(), change.id() + "|" + name, change.originUs(), row);
    }

    @Override
    public void begin() {
        if (generation == spec.generation()) {
            return;
        }
        generation = spec.generation();
        for (String name : Set.copyOf(entries.keySet())) {
            if (!spec.atStart().containsKey(name)) {
                table.learn(name, null);
                entries.remove(name);
                changed.add(name);
            }
        }
        spec.atStart().forEach(this::learn);
    }

    @Override
    public void restore(byte[] key, byte[] value) {
        Packed in = new Packed(value);
        if (Arrays.equals(key, GENERATION)) {
            generation = in.readLong();
            return;
        }
        String name = new String(key, 1, key.length - 1, StandardCharsets.UTF_8);
        Stored entry = new Stored(in.readLong(), in.isAtEnd() ? null : in.readBytes());
        entries.put(name, entry);
        table.learn(name, entry.value());
    }

    @Override
    public void save(BiConsumer<byte[], byte[]> saved) {
        Packed packed = new Packed(256);
        for (String name : changed) {
            byte[] text = name.getBytes(StandardCharsets.UTF_8);
            byte[] key = new byte[1 + text.length];
            key[0] = ENTRY;
            System.arraycopy(text, 0, key, 1, text.length);
            Stored entry = entries.get(name);
            packed.clear();
            if (entry != null) {
                packed.writeLong(entry.offset());
                if (entry.value() != null) {
                    packed.writeBytes(entry.value());
                }
            }
            saved.accept(key, entry == null ? null : packed.toBytes());
        }
        changed.clear();
        packed.clear();
        packed.writeLong(generation);
        saved.accept(GENERATION, packed.toBytes());
    }
}
