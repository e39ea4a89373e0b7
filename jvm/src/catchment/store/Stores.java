package catchment.store;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The stores of this process, by name; tasks come and go with every checkpoint, and a store stays. */
public final class Stores {
    private static final Map<String, Store> STORES = new ConcurrentHashMap<>();

    private Stores() {}

    static Store of(StoreSettings settings) {
        return STORES.computeIfAbsent(settings.name(), name -> new Store(settings));
    }

    /** How a store is, as JSON; empty before its first record. Called from Python. */
    public static String figures(String name) {
        Store store = STORES.get(name);
        return store == null ? "{}" : store.state().figures(store.queued());
    }

    /** The counts of sources that changed since the last call, as JSON. Called from Python. */
    public static String takeChanged(String name) {
        Store store = STORES.get(name);
        return store == null ? "[]" : store.state().takeChanged();
    }

    /** Ends a store. Called from Python. */
    public static void close(String name) {
        Store store = STORES.remove(name);
        if (store != null) {
            store.close();
        }
    }
}
