package twins;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/** The state of an object, as it is stored and stands on the changelog. */
final class Twin {
    public String site;
    public String id;
    public String type;
    public long version;
    public String owner;
    public long createdMs;
    public long updatedMs;
    public String transaction;
    public Map<String, Object> values = new LinkedHashMap<>();
    /** For each source the last epoch and number that was taken: what is not above it is a repetition. */
    public Map<String, long[]> seen = new HashMap<>();

    static Twin of(Change change) {
        Twin twin = new Twin();
        twin.site = change.site;
        twin.id = change.id;
        twin.type = change.change.type;
        twin.owner = change.user;
        twin.createdMs = change.atMs;
        return twin;
    }

    boolean hasSeen(Stamp stamp) {
        long[] last = seen.get(stamp.source());
        return last != null
                && (stamp.epoch() < last[0] || (stamp.epoch() == last[0] && stamp.sequence() <= last[1]));
    }
}
