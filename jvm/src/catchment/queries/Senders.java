package catchment.queries;

import static catchment.queries.InputColumns.*;

import catchment.records.Stamp;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.spark.unsafe.types.UTF8String;

/** Who the messages of one input are from, and what each of them is known by. */
final class Senders {
    /** Who a record is from; not wanted if it is of another stream. */
    record Sender(boolean wanted, String site, String stream, UTF8String id) {}

    private final InputSpec spec;
    private final Pattern streams;
    private final Map<String, Sender> known = new HashMap<>();

    Senders(InputSpec spec) {
        this.spec = spec;
        this.streams = spec.kind().equals("records") ? spec.streams() : null;
    }

    /** Fills in id, number, sign, origin and version; null if the message is of no interest. */
    Sender identify(Message message, Object[] row) {
        row[SIGN] = 1;
        return switch (spec.kind()) {
            case "records" -> ofRecord(message.stamp(), row);
            case "measurements" -> ofMeasurement(message, row);
            case "results" -> ofResult(message, row);
            default -> ofMessage(message, row);
        };
    }

    private Sender ofRecord(byte[] stamp, Object[] row) {
        if (!Stamp.isWhole(stamp)) {
            // The ledger sends it to the dead letters.
            return null;
        }
        Sender sender = known.computeIfAbsent(Stamp.identity(stamp), this::sender);
        number(row, sender, stamp);
        return sender;
    }

    private Sender sender(String identity) {
        int stroke = identity.indexOf('/');
        String site = stroke < 0 ? "" : identity.substring(0, stroke);
        String stream = Stamp.streamAt(site, identity);
        boolean wanted = stream != null && (streams == null || streams.matcher(stream).matches());
        return new Sender(wanted, site, stream, UTF8String.fromString(identity));
    }

    private static void number(Object[] row, Sender sender, byte[] stamp) {
        row[ID] = sender.id;
        row[NUMBER] = Stamp.sequence(stamp);
        row[ORIGIN_US] = Stamp.originUs(stamp);
        row[VERSION] = row[ORIGIN_US];
    }

    /** A record may have made several measurements: each sensor is a source of its own. */
    private Sender ofMeasurement(Message message, Object[] row) {
        byte[] stamp = message.stamp();
        byte[] key = message.key();
        if (!Stamp.isWhole(stamp) || key == null) {
            return ofMessage(message, row);
        }
        String sensor = new String(key, StandardCharsets.UTF_8);
        Sender sender = known.computeIfAbsent(Stamp.identity(stamp) + " " + sensor, this::sender);
        number(row, sender, stamp);
        return new Sender(true, siteOf(sensor), null, sender.id);
    }

    private static String siteOf(String key) {
        int stroke = key.indexOf('/');
        return stroke < 0 ? null : key.substring(0, stroke);
    }

    /** Keys are SITE/QUERY/OUTPUT/ID. */
    private Sender ofResult(Message message, Object[] row) {
        byte[] bytes = message.key();
        String key = bytes == null ? "" : new String(bytes, StandardCharsets.UTF_8);
        String site = siteOf(key);
        if (site == null || !key.startsWith(spec.selector() + "/", site.length() + 1)) {
            return null;
        }
        ofMessage(message, row);
        row[ID] = key;
        row[SIGN] = message.value() == null ? -1 : 1;
        byte[] version = message.version();
        row[VERSION] =
                version == null ? row[ORIGIN_US] : (Object) Long.parseLong(new String(version, StandardCharsets.US_ASCII));
        return new Sender(true, site, null, null);
    }

    /** What has no number of its own has its place in the topic. */
    private Sender ofMessage(Message message, Object[] row) {
        row[ID] = Integer.toString(message.partition());
        row[NUMBER] = message.offset() + 1;
        row[ORIGIN_US] = message.originUs();
        row[VERSION] = row[ORIGIN_US];
        byte[] key = message.key();
        return new Sender(true, key == null ? null : siteOf(new String(key, StandardCharsets.UTF_8)), null, null);
    }
}
