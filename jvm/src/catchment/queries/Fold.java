package catchment.queries;

import catchment.control.Memory;

/** A box with state, as far as one shard is concerned. */
interface Fold extends Memory {
    /** Called once, when all entries are restored, before the first change. */
    default void begin() {}

    void take(Change change, Results results);

    /** Hears what time it is; comes about every second if the box asked for it. */
    default void tick(long nowMs, Results results) {}
}
