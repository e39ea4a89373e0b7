package catchment.thresholds;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Optional;

/**
 * One rule on one sensor: a pure fold over the values of its field, in the rule's unit.
 *
 * <p>A transgression is first under way, and raised once it has lasted for the rule's minimum: only then are
 * there events. Times are those of the readings. A late reading, older than one that was judged before it,
 * starts and ends nothing, and tells nothing; it is counted if it is of the time of the transgression under way.
 */
public final class Watch {
    private enum State {
        IDLE,
        UNDER_WAY,
        RAISED
    }

    private final RuleKey rule;
    private State state = State.IDLE;
    private long sequence;
    private Terms terms;
    private String subject;
    private long firstMs;
    private long lastMs;
    private long toldMs;
    private long count;
    private double sum;
    private double furthest;
    private double latest;

    public Watch(RuleKey rule) {
        this.rule = rule;
    }

    public RuleKey rule() {
        return rule;
    }

    /** Judges a value by the rule; gives the event that it causes, if any. */
    public Optional<Event> take(Rule current, Reading reading, double value, boolean late) {
        if (late) {
            countLate(reading.ms(), value);
            return Optional.empty();
        }
        if (state == State.IDLE) {
            if (!current.terms().starts(value)) {
                return Optional.empty();
            }
            begin(current.terms(), reading, value);
        } else if (terms.ends(value)) {
            return finish(reading.ms());
        } else {
            count(reading.ms(), value);
        }
        latest = value;
        return tell(current, reading.ms());
    }

    /** Ends what is under way because its rule does not apply any more: at the last reading of it. */
    public Optional<Event> end() {
        return state == State.IDLE ? Optional.empty() : finish(lastMs);
    }

    /**
     * Takes over what was told after the state that this comes from was kept; says whether that is anything new.
     *
     * <p>A query that starts again reads its input again, and tells the same once more. But a declaration that
     * changed in that time is known from the start this time, so that it may come to another end. Then
     * what was told last counts: whoever was told of a start is told of its end, and numbers go on from there.
     */
    public boolean adopt(Event told) {
        if (told.sequence() <= sequence) {
            return false;
        }
        state = told.phase() == Phase.END ? State.IDLE : State.RAISED;
        sequence = told.sequence();
        terms = told.terms();
        subject = told.subject();
        firstMs = told.firstMs();
        lastMs = told.lastMs();
        toldMs = told.timestampMs();
        count = told.count();
        sum = told.averageTransgression() * count;
        furthest = told.maxTransgression();
        latest = told.latest();
        return true;
    }

    /** Whether something is under way that started under other terms than these, of which there may be none. */
    public boolean isOutdated(Rule current) {
        return state != State.IDLE && (current == null || !terms.equals(current.terms()));
    }

    /** Whether nothing would be lost without this. */
    public boolean isBlank() {
        return state == State.IDLE && sequence == 0;
    }

    private void begin(Terms those, Reading reading, double value) {
        state = State.UNDER_WAY;
        terms = those;
        subject = reading.subject();
        firstMs = reading.ms();
        lastMs = reading.ms();
        count = 1;
        sum = terms.transgression(value);
        furthest = sum;
    }

    private void countLate(long ms, double value) {
        if (state != State.IDLE && ms >= firstMs && !terms.ends(value)) {
            count(ms, value);
        }
    }

    private void count(long ms, double value) {
        double transgression = terms.transgression(value);
        lastMs = Math.max(lastMs, ms);
        count++;
        sum += transgression;
        furthest = Math.max(furthest, transgression);
    }

    private Optional<Event> tell(Rule current, long ms) {
        if (state == State.UNDER_WAY) {
            if (ms - firstMs < current.minDurationMs()) {
                return Optional.empty();
            }
            state = State.RAISED;
            return Optional.of(event(Phase.START, ms));
        }
        boolean due = current.lastingEveryMs() > 0 && ms - toldMs >= current.lastingEveryMs();
        return due ? Optional.of(event(Phase.LASTING, ms)) : Optional.empty();
    }

    private Optional<Event> finish(long ms) {
        Optional<Event> told = state == State.RAISED ? Optional.of(event(Phase.END, ms)) : Optional.empty();
        state = State.IDLE;
        return told;
    }

    private Event event(Phase phase, long ms) {
        toldMs = ms;
        sequence++;
        return new Event(
                rule, terms, subject, phase, sequence, ms, firstMs, lastMs, count, sum / count, furthest, latest);
    }

    /** Writes what {@link #read} reads. */
    public void write(DataOutput out) throws IOException {
        out.writeUTF(rule.toString());
        out.writeLong(sequence);
        out.writeByte(state.ordinal());
        if (state == State.IDLE) {
            return;
        }
        terms.write(out);
        out.writeUTF(subject);
        out.writeLong(firstMs);
        out.writeLong(lastMs);
        out.writeLong(toldMs);
        out.writeLong(count);
        out.writeDouble(sum);
        out.writeDouble(furthest);
        out.writeDouble(latest);
    }

    public static Watch read(DataInput in) throws IOException {
        Watch watch = new Watch(RuleKey.parse(in.readUTF()));
        watch.sequence = in.readLong();
        watch.state = State.values()[in.readByte()];
        if (watch.state == State.IDLE) {
            return watch;
        }
        watch.terms = Terms.read(in);
        watch.subject = in.readUTF();
        watch.firstMs = in.readLong();
        watch.lastMs = in.readLong();
        watch.toldMs = in.readLong();
        watch.count = in.readLong();
        watch.sum = in.readDouble();
        watch.furthest = in.readDouble();
        watch.latest = in.readDouble();
        return watch;
    }
}
