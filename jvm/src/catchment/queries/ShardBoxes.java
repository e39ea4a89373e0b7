package catchment.queries;

import catchment.control.Memory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;

/** The boxes of a stage, as far as one shard is concerned. Entries in the state begin with the name of their box. */
final class ShardBoxes implements Memory {
    private static final byte END = 0;

    final Fold[] folds;
    private final byte[][] beginnings;
    private final Map<String, Fold> byName = new HashMap<>();

    ShardBoxes(StageSpec stage) {
        folds = new Fold[stage.boxes().size()];
        beginnings = new byte[folds.length][];
        for (int each = 0; each < folds.length; each++) {
            StageSpec.BoxSpec box = stage.boxes().get(each);
            folds[each] = Folds.of(box.spec());
            beginnings[each] = (box.name() + (char) END).getBytes(StandardCharsets.US_ASCII);
            byName.put(box.name(), folds[each]);
        }
    }

    /** What is of a box that is not there any more is passed over. */
    @Override
    public void restore(byte[] key, byte[] value) {
        int end = 0;
        while (key[end] != END) {
            end++;
        }
        Fold fold = byName.get(new String(key, 0, end, StandardCharsets.US_ASCII));
        if (fold != null) {
            fold.restore(Arrays.copyOfRange(key, end + 1, key.length), value);
        }
    }

    /** Called once all entries are restored. */
    void begin() {
        for (Fold fold : folds) {
            fold.begin();
        }
    }

    @Override
    public void save(BiConsumer<byte[], byte[]> entries) {
        for (int each = 0; each < folds.length; each++) {
            byte[] beginning = beginnings[each];
            folds[each].save((key, value) -> {
                byte[] whole = Arrays.copyOf(beginning, beginning.length + key.length);
                System.arraycopy(key, 0, whole, beginning.length, key.length);
                entries.accept(whole, value);
            });
        }
    }
}
