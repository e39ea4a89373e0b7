package catchment.queries;

import catchment.control.Packed;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

/** Rows of a stream from which none is ever withdrawn: they need not be found by their ids, which takes much memory. */
final class OnlyAdded extends Rows {
    private final List<Placed> added = new ArrayList<>();
    private final List<Placed> gone = new ArrayList<>();

    @Override
    Shift add(Placed row, int sign) {
        present().add(row);
        added.add(row);
        return new Shift(null, row);
    }

    @Override
    boolean isEmpty() {
        return present().isEmpty();
    }

    @Override
    void forget(Placed row) {
        present().remove(row);
        gone.add(row);
    }

    @Override
    void save(Object[] group, int side, Packed packed, BiConsumer<byte[], byte[]> entries) {
        for (Placed row : added) {
            byte[] key = key(group, side, row.id(), packed);
            packed.clear();
            row.write(packed);
            packed.writeLong(1);
            entries.accept(key, packed.toBytes());
        }
        // Also those that were added since the last time.
        gone.forEach(row -> entries.accept(key(group, side, row.id(), packed), null));
        settle();
    }

    @Override
    void settle() {
        added.clear();
        gone.clear();
    }
}
