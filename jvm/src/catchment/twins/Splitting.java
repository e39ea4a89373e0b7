package catchment.twins;

import catchment.control.KafkaRows;
import catchment.records.Stamp;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/** A message about many objects becomes rows: a change for each, or a dead letter and an outcome. */
final class Splitting {
    private static final UTF8String CHANGES = KafkaRows.topic("twin-changes");
    private static final UTF8String OUTCOMES = KafkaRows.topic("twin-outcomes");
    private static final UTF8String DEADLETTER = KafkaRows.topic("deadletter");

    private final String prefix;
    private final Splitter splitter;
    private final Messages messages;

    Splitting(String site) {
        prefix = site + "/";
        splitter = new Splitter(site);
        messages = new Messages(site);
    }

    /** A message as it is on Kafka; topic and headers are only good until the next. */
    record Message(UTF8String topic, byte[] key, byte[] value, ArrayData headers) {}

    /** Splits a message with a whole stamp; `user` is null if it names its sender itself. */
    void split(Message message, byte[] stamp, String user, String type, List<InternalRow> results) {
        long originMs = Math.floorDiv(Stamp.originUs(stamp), 1000L);
        ArrayData stamped = stamped(stamp);
        try {
            if (message.value() == null) {
                throw new Malformed("it is empty", "", user);
            }
            splitter.split(message.value(), user, type, originMs, (id, change) ->
                    results.add(KafkaRows.row(CHANGES, key(id), change, stamped)));
        } catch (Malformed why) {
            results.add(letter(message, why.getMessage()));
            if (why.user != null) {
                byte[] outcome = messages.malformed(why.transaction, why.user, why.getMessage(), originMs);
                byte[] told = why.user.getBytes(StandardCharsets.UTF_8);
                results.add(KafkaRows.row(OUTCOMES, told, outcome, stamped));
            }
        }
    }

    /** The row of one change. */
    InternalRow change(String id, byte[] change, byte[] stamp) {
        return KafkaRows.row(CHANGES, key(id), change, stamped(stamp));
    }

    static InternalRow letter(Message message, String reason) {
        ArrayData headers = KafkaRows.ofLetter(message.headers(), "malformed: " + reason, message.topic());
        return KafkaRows.row(DEADLETTER, message.key(), message.value(), headers);
    }

    private static ArrayData stamped(byte[] stamp) {
        return KafkaRows.headers(KafkaRows.header(KafkaRows.STAMP_HEADER, stamp));
    }

    private byte[] key(String id) {
        return (prefix + id).getBytes(StandardCharsets.US_ASCII);
    }
}
