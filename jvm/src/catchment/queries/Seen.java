package catchment.queries;

import catchment.control.Packed;
import catchment.ledger.Gaps;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;

/** Lets every record pass once: a change's id is the source, which numbers its records 1, 2, 3 … */
final class Seen implements Fold {
    /** Whoever leaves more numbers out does not mean to send them any more. */
    private static final int MOST_GAPS = 10_000;

    private final int numberColumn;
    private final int columns;
    private final Map<String, Source> sources = new HashMap<>();
    private final Set<String> changed = new HashSet<>();

    private static final class Source {
        private long highest;
        private Gaps gaps = new Gaps();

        /** Whether a number comes for the first time. */
        private boolean isNews(long number) {
            if (number <= highest) {
                return gaps.fill(number);
            }
            if (number > highest + 1) {
                gaps.open(highest + 1, number - 1);
                if (gaps.size() > MOST_GAPS) {
                    gaps.closeLowest();
                }
            }
            highest = number;
            return true;
        }
    }

    /** Passes the columns from `numberColumn` on. */
    Seen(int numberColumn, int columns) {
        this.numberColumn = numberColumn;
        this.columns = columns;
    }

    @Override
    public void take(Change change, Results results) {
        Source source = sources.computeIfAbsent(change.id(), id -> new Source());
        if (source.isNews((Long) change.get(numberColumn))) {
            changed.add(change.id());
            results.give(1, change.id(), change.originUs(), change.range(numberColumn, columns, Change.META));
        }
    }

    @Override
    public void restore(byte[] key, byte[] value) {
        Packed in = new Packed(value);
        Source source = new Source();
        source.highest = in.readLong();
        source.gaps = Gaps.fromBytes(in.readBytes());
        sources.put(new String(key, StandardCharsets.UTF_8), source);
    }

    @Override
    public void save(BiConsumer<byte[], byte[]> entries) {
        for (String id : changed) {
            Source source = sources.get(id);
            Packed out = new Packed(64);
            out.writeLong(source.highest);
            out.writeBytes(source.gaps.toBytes());
            entries.accept(id.getBytes(StandardCharsets.UTF_8), out.toBytes());
        }
        changed.clear();
    }
}
