package catchment.queries;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Versions of results: the time in µs, to the millisecond, but always greater than the last.
 *
 * <p>What is written again after a crash is newer than what was written before it.
 */
final class Versions {
    private static final AtomicLong LAST = new AtomicLong();

    private Versions() {}

    static long next() {
        long nowUs = System.currentTimeMillis() * 1_000;
        return LAST.updateAndGet(last -> Math.max(last + 1, nowUs));
    }
}
