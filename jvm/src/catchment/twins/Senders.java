package catchment.twins;

import catchment.records.Stamp;
import java.util.HashMap;
import java.util.Map;

/** Where messages come from, by the identity in their stamp: looked at once, because there are few. */
final class Senders {
    private static final int REMEMBERED = 10_000;

    private final Map<String, Sender> known = new HashMap<>();

    /** A source without its epoch, which only tells its spools apart; and the name of its stream. */
    record Sender(String source, long epoch, String site, String stream) {}

    /** The sender of a message with a whole stamp; null if its identity cannot be read. */
    Sender of(byte[] stamp) {
        String identity = Stamp.identity(stamp);
        Sender sender = known.get(identity);
        if (sender == null) {
            sender = parsed(identity);
            if (known.size() >= REMEMBERED) {
                known.clear();
            }
            known.put(identity, sender);
        }
        return sender;
    }

    private static Sender parsed(String identity) {
        String[] parts = identity.split("/", 4);
        if (parts.length < 4 || Stamp.streamAt(parts[0], identity) == null) {
            return null;
        }
        return new Sender(
                parts[0] + "/" + parts[1] + "/" + parts[3], Long.parseLong(parts[2]), parts[0], parts[3]);
    }
}
