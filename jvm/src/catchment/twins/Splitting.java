package catchment.twins;

import catchment.control.KafkaRows;
import catchment.records.Names;
import catchment.records.Stamp;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.spark.sql.Row;

/** A message about many objects becomes rows: a change for each, or a dead letter and an outcome. */
final class Splitting {
    private static final String CHANGES = Names.topic("twin-changes");
    private static final String OUTCOMES = Names.topic("twin-outcomes");
    private static final String DEADLETTER = Names.topic("deadletter");

    private final String prefix;
    private final Splitter splitter;
    private final Messages messages;

    Splitting(String site) {
        prefix = site + "/";
        splitter = new Splitter(site);
        messages = new Messages(site);
    }

    /** A message as it is on Kafka. */
    record Message(String topic, byte[] key, byte[] value, List<Row> headers) {}

    /** Splits a message with a whole stamp; `user` is null if it names its sender itself. */
    void split(Message message, byte[] stamp, String user, String type, List<Row> results) {
        long originMs = Math.floorDiv(Stamp.originUs(stamp), 1000L);
        List<Row> stamped = List.of(KafkaRows.header(Stamp.HEADER, stamp));
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
    Row change(String id, byte[] change, byte[] stamp) {
        return KafkaRows.row(CHANGES, key(id), change, List.of(KafkaRows.header(Stamp.HEADER, stamp)));
    }

    static Row letter(Message message, String reason) {
        List<Row> all = KafkaRows.with(
                message.headers(),
                KafkaRows.header(Names.REASON_HEADER, "malformed: " + reason),
                KafkaRows.header(Names.TOPIC_HEADER, message.topic()));
        return KafkaRows.row(DEADLETTER, message.key(), message.value(), all);
    }

    private byte[] key(String id) {
        return (prefix + id).getBytes(StandardCharsets.US_ASCII);
    }
}
