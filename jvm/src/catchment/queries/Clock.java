package catchment.queries;

import catchment.control.Packed;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * How far a shard is in the time of its rows: as far as the latest of them, less what others may be late. When no
 * row has come for a while, the clock on the wall carries it on, so that nobody waits for a source that is silent.
 *
 * <p>What ended long ago is given up: it was closed for `keep` both by this clock and by the one on the wall, so that
 * nothing is given up while a backlog is read, whose partitions are not equally far.
 */
final class Clock {
    static final long NEVER = Long.MIN_VALUE;
    private static final long BETWEEN_MARKS_MS = 1_000;

    private final long latenessUs;
    private final long idleMs;
    private final long keepMs;
    private final Deque<Mark> marks = new ArrayDeque<>();
    private long horizonUs = NEVER;
    private long greatestUs = NEVER;
    private long reachedUs = NEVER;
    private long heardMs;
    private boolean heard = true;

    /** How far the clock was at a moment of the one on the wall. */
    private record Mark(long ms, long reachedUs) {}

    Clock(long latenessUs, long idleMs, long keepMs) {
        this.latenessUs = latenessUs;
        this.idleMs = idleMs;
        this.keepMs = keepMs;
    }

    /** Hears the time of a row; true if that carries the clock on. */
    boolean hear(long timeUs) {
        heard = true;
        if (timeUs <= greatestUs) {
            return false;
        }
        greatestUs = timeUs;
        return reach(timeUs - latenessUs);
    }

    /** Hears what time it is; true if that carries the clock on. */
    boolean tick(long nowMs) {
        if (heard) {
            heard = false;
            heardMs = nowMs;
        }
        long silentMs = nowMs - heardMs;
        return greatestUs != NEVER
                && silentMs >= idleMs
                && reach(greatestUs - latenessUs + silentMs * 1_000);
    }

    private boolean reach(long us) {
        boolean further = us > reachedUs;
        reachedUs = Math.max(us, reachedUs);
        return further;
    }

    /** Moves on what is given up; called at any time, and true if there is more of it than before. */
    boolean giveUp(long nowMs) {
        if (!marks.isEmpty() && nowMs - marks.peekLast().ms < BETWEEN_MARKS_MS) {
            return false;
        }
        long beforeUs = horizonUs;
        long longAgoUs = NEVER;
        while (!marks.isEmpty() && marks.peek().ms + keepMs <= nowMs) {
            longAgoUs = marks.poll().reachedUs;
        }
        if (longAgoUs != NEVER) {
            horizonUs = Math.max(horizonUs, Math.min(longAgoUs, reachedUs - keepMs * 1_000));
        }
        marks.add(new Mark(nowMs, reachedUs));
        return horizonUs > beforeUs;
    }

    /** Whether what ended then is given up. */
    boolean gaveUp(long endUs) {
        return endUs <= horizonUs;
    }

    long horizonUs() {
        return horizonUs;
    }

    /** Whether what ended then is closed. */
    boolean hasPassed(long endUs) {
        return endUs <= reachedUs;
    }

    void write(Packed out) {
        out.writeLong(greatestUs);
        out.writeLong(reachedUs);
        out.writeLong(horizonUs);
    }

    void read(Packed in) {
        greatestUs = in.readLong();
        reachedUs = in.readLong();
        horizonUs = in.readLong();
    }
}
