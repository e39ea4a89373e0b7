package catchment.control;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The entries of a state that are in use, in memory.
 *
 * <p>What changed is put into the state before the checkpoint, or when there are too many: the state of a
 * checkpoint is exact, and nothing but it counts after a crash. Its owner sees to it that {@link #save} is called
 * then ({@link BeforeCommit}, {@link ControlledProcessor#keepLater}).
 */
public final class InUse<T> {
    public static final int LIMIT = 4_000;

    /** How an entry comes out of the state, and goes back. */
    public interface State<T> {
        /** The entry in the state; null if there is none. */
        T read(String key);

        void write(String key, T value);
    }

    private static final class Entry<T> {
        private T value;
        private boolean isChanged;
    }

    private final State<T> state;
    private final LinkedHashMap<String, Entry<T>> entries = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Entry<T>> eldest) {
            if (size() <= LIMIT) {
                return false;
            }
            save(eldest.getKey(), eldest.getValue());
            return true;
        }
    };

    public InUse(State<T> state) {
        this.state = state;
    }

    /** An entry as it is now; null if there is none. */
    public T get(String key) {
        return entry(key).value;
    }

    /** Makes an entry anew, or notes that the one that {@link #get} gave has changed. */
    public void put(String key, T value) {
        Entry<T> entry = entry(key);
        entry.value = value;
        entry.isChanged = true;
    }

    /** Puts into the state what is not there yet. */
    public void save() {
        entries.forEach(this::save);
    }

    private void save(String key, Entry<T> entry) {
        if (entry.isChanged) {
            state.write(key, entry.value);
            entry.isChanged = false;
        }
    }

    private Entry<T> entry(String key) {
        Entry<T> entry = entries.get(key);
        if (entry == null) {
            entry = new Entry<>();
            entry.value = state.read(key);
            entries.put(key, entry);
        }
        return entry;
    }
}
