package catchment.control;

import catchment.records.Stamp;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.ListState;
import scala.collection.Iterator;

/**
 * Measurements that overtook their schema, which comes on another topic: they wait for it in the state.
 *
 * <p>A limited number, and not for ever: whatever turns up a minute after the first and has to wait as well
 * sends those away that have waited that long.
 */
public final class WaitingRoom {
    static final int SEATS = 1000;
    static final long LONGEST_US = 60_000_000;

    private final ListState<byte[]> rows;

    public WaitingRoom(ListState<byte[]> rows) {
        this.rows = rows;
    }

    /** Who sits in the room of one shard; counted once, so that a flood costs little. */
    public static final class Guests {
        private boolean counted;
        private int number;
        private long oldestUs;
    }

    /** Lets a row wait, if there is a seat; gives back those that waited too long, or found none. */
    public List<InternalRow> add(Guests guests, InternalRow row) {
        if (!guests.counted) {
            seat(guests, leave(guests));
        }
        List<InternalRow> sentAway = guests.number > 0 && originUs(row) - guests.oldestUs >= LONGEST_US
                ? sendAway(guests, originUs(row) - LONGEST_US)
                : new ArrayList<>();
        if (guests.number < SEATS) {
            seat(guests, List.of(row));
        } else {
            sentAway.add(row);
        }
        return sentAway;
    }

    /** Everyone leaves, in the order in which they came. */
    public List<InternalRow> leave(Guests guests) {
        List<InternalRow> all = new ArrayList<>();
        Iterator<byte[]> stored = rows.get();
        while (stored.hasNext()) {
            all.add(StoredRow.fromBytes(stored.next()));
        }
        rows.clear();
        guests.counted = true;
        guests.number = 0;
        return all;
    }

    private List<InternalRow> sendAway(Guests guests, long latestUs) {
        List<InternalRow> all = leave(guests);
        seat(guests, all.stream().filter(row -> originUs(row) > latestUs).toList());
        all.removeIf(row -> originUs(row) > latestUs);
        return all;
    }

    private void seat(Guests guests, List<InternalRow> those) {
        for (InternalRow row : those) {
            rows.appendValue(StoredRow.toBytes(row));
            guests.oldestUs = guests.number == 0 ? originUs(row) : Math.min(guests.oldestUs, originUs(row));
            guests.number++;
        }
    }

    private static long originUs(InternalRow row) {
        return Stamp.originUs(KafkaRows.stamp(KafkaRows.headers(row, ControlledProcessor.HEADERS)));
    }
}
