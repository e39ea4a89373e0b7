package catchment.ledger;

import java.nio.ByteBuffer;
import java.util.function.Supplier;

/**
 * What has arrived of one source: a pure fold over the numbers of its records.
 *
 * <p>A source numbers its records 1, 2, 3 … A number seen for the first time is received, whether in order
 * or late; one seen before is a duplicate. Every count is exact, however many gaps there are: the gaps are
 * kept apart, and looked at only when a number is not simply the next one.
 */
public final class Tally {
    private static final byte VERSION = 1;
    private static final int BYTES = 1 + 6 * Long.BYTES;

    private long received;
    private long highest;
    private long duplicates;
    private long outOfOrder;
    private long firstOriginUs;
    private long lastOriginUs;
    private final Supplier<Gaps> storedGaps;
    private Gaps gaps;
    private boolean gapsChanged;

    /** A source of which nothing has arrived yet. */
    public Tally() {
        this(Gaps::new);
    }

    private Tally(Supplier<Gaps> storedGaps) {
        this.storedGaps = storedGaps;
    }

    /** Counts one record. */
    public void add(long sequence, long originUs) {
        if (sequence == highest + 1) {
            highest = sequence;
            received(originUs);
        } else if (sequence > highest) {
            changeableGaps().open(highest + 1, sequence - 1);
            highest = sequence;
            received(originUs);
        } else if (missing() > 0 && gaps().fill(sequence)) {
            gapsChanged = true;
            outOfOrder++;
            received(originUs);
        } else {
            duplicates++;
        }
    }

    private void received(long originUs) {
        firstOriginUs = received == 0 ? originUs : Math.min(firstOriginUs, originUs);
        lastOriginUs = received == 0 ? originUs : Math.max(lastOriginUs, originUs);
        received++;
    }

    private Gaps changeableGaps() {
        gapsChanged = true;
        return gaps();
    }

    /** The ranges that are missing; read from the store the first time that they are asked for. */
    public Gaps gaps() {
        if (gaps == null) {
            gaps = storedGaps.get();
        }
        return gaps;
    }

    /** Whether the gaps differ from those that were stored. */
    public boolean gapsChanged() {
        return gapsChanged;
    }

    /** Notes that the gaps are stored as they are now. */
    public void gapsAreStored() {
        gapsChanged = false;
    }

    /** Rises by one with every record, so that readers can tell a newer row from a replayed one. */
    public long version() {
        return received + duplicates;
    }

    public long received() {
        return received;
    }

    public long highest() {
        return highest;
    }

    public long duplicates() {
        return duplicates;
    }

    public long outOfOrder() {
        return outOfOrder;
    }

    public long missing() {
        return highest - received;
    }

    public long firstOriginUs() {
        return firstOriginUs;
    }

    public long lastOriginUs() {
        return lastOriginUs;
    }

    /** The counts as bytes, without the gaps. */
    public byte[] toBytes() {
        return ByteBuffer.allocate(BYTES)
                .put(VERSION)
                .putLong(received)
                .putLong(highest)
                .putLong(duplicates)
                .putLong(outOfOrder)
                .putLong(firstOriginUs)
                .putLong(lastOriginUs)
                .array();
    }

    /** The counts that {@link #toBytes} wrote, with a way to get at the gaps. */
    public static Tally fromBytes(byte[] stored, Supplier<Gaps> storedGaps) {
        ByteBuffer bytes = ByteBuffer.wrap(stored);
        byte version = bytes.get();
        if (version != VERSION) {
            throw new IllegalStateException("ledger state of version " + version + " is not known here");
        }
        Tally tally = new Tally(storedGaps);
        tally.received = bytes.getLong();
        tally.highest = bytes.getLong();
        tally.duplicates = bytes.getLong();
        tally.outOfOrder = bytes.getLong();
        tally.firstOriginUs = bytes.getLong();
        tally.lastOriginUs = bytes.getLong();
        return tally;
    }
}
