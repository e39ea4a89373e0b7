package catchment.twins;

import catchment.records.Stamp;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.avro.generic.GenericRecord;

/** The change that a feed makes of a measurement. */
final class FedChange {
    private FedChange() {}

    /** As a message on `twin-changes`; null if the measurement has nothing for the object. */
    static byte[] write(Feeds feeds, Feed feed, String sensor, String id, GenericRecord fields, byte[] stamp) {
        Map<String, Object> values = Measured.values(feed, fields);
        if (values.isEmpty()) {
            return null;
        }
        Senders.Sender sender = feeds.senders.of(stamp);
        long atMs = Measured.timestampMs(fields, Math.floorDiv(Stamp.originUs(stamp), 1000L));
        JsonText text = feeds.text.clear();
        name(text, "{\"site\":").text(sender.site());
        name(text, ",\"id\":").text(id);
        name(text, ",\"transaction\":").text(sender.epoch() + "-" + Stamp.sequence(stamp));
        name(text, ",\"user\":").text(feed.user);
        // Measurements of several sensors may come in another order than they were numbered in.
        name(text, ",\"lane\":").text(feed.id + "/" + sensor);
        name(text, ",\"at_ms\":").number(atMs);
        name(text, ",\"change\":{");
        if (feed.type != null) {
            name(text, "\"action\":\"put\",\"type\":").text(feed.type).raw(',');
        }
        name(text, "\"values\":{");
        boolean first = true;
        for (Map.Entry<String, Object> each : values.entrySet()) {
            name(text, first ? "" : ",").text(each.getKey());
            name(text, ":{\"set\":").scalar(each.getValue()).raw('}');
            first = false;
        }
        return name(text, "}}}").toBytes();
    }

    private static JsonText name(JsonText text, String json) {
        return text.raw(json.getBytes(StandardCharsets.US_ASCII));
    }
}
