package catchment.twins;

import catchment.control.ControlledProcessor;
import catchment.control.Declarations;
import catchment.control.KafkaRows;
import catchment.control.StoredRow;
import catchment.control.Timing;
import catchment.control.WaitingRoom;
import catchment.records.Names;
import catchment.records.Stamp;
import catchment.twins.Senders.Sender;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.apache.avro.generic.GenericRecord;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.TTLConfig;

/**
 * Messages to twins as an operator: what devices send on streams that a feed names, what the API writes, and the
 * measurements that a feed names become one change for each object.
 */
public final class Split extends ControlledProcessor<Feeds> {
    private static final long serialVersionUID = 1L;
    private static final String RECORDS = Names.topic("records");
    private static final String MEASUREMENTS = Names.topic("measurements");
    private static final String FEEDS = Names.topic("twin-feeds");
    private static final String SENSORS = Names.topic("sensor-registration");
    private static final String SCHEMAS = Names.topic("schemas");
    private static final String CHANGES = Names.topic("twin-changes");
    private static final String OUTCOMES = Names.topic("twin-outcomes");
    private static final String DEADLETTER = Names.topic("deadletter");

    private final String site;
    private transient WaitingRoom waiting;

    private Split(String site, Declarations atStart) {
        super(atStart);
        this.site = site;
    }

    /** Applies the operator; called from Python. */
    public static Dataset<Row> apply(Dataset<Row> rows, String site, Declarations atStart) {
        return run(rows, new Split(site, atStart), KafkaRows.SCHEMA);
    }

    @Override
    protected Timing timing() {
        return Timing.of("twin-split");
    }

    @Override
    protected void opened() {
        waiting = new WaitingRoom(getHandle().getListState("waiting", Encoders.BINARY(), TTLConfig.NONE()));
    }

    @Override
    protected Feeds open(int shard) {
        return new Feeds(site);
    }

    @Override
    protected void learn(Feeds feeds, String topic, String key, byte[] value) {
        if (topic.equals(FEEDS)) {
            feeds.learnFeed(key, value);
        } else if (topic.equals(SENSORS)) {
            feeds.learnSensor(key, value);
        } else {
            feeds.learnSchema(value);
        }
    }

    @Override
    protected void changed(Feeds feeds, String topic, String key, List<Row> results) {
        if (topic.equals(SCHEMAS)) {
            waiting.leave(feeds.guests).forEach(row -> take(feeds, row, results));
        }
    }

    @Override
    protected void take(Feeds feeds, Row row, List<Row> results) {
        byte[] stamp = KafkaRows.valueOf(StoredRow.headers(row), Stamp.HEADER);
        Sender sender = Stamp.isWhole(stamp) ? feeds.senders.of(stamp) : null;
        // The ledger has the word on records without a valid stamp.
        if (sender == null || !sender.site().equals(site)) {
            return;
        }
        String topic = row.getString(TOPIC);
        if (topic.equals(MEASUREMENTS)) {
            takeMeasurement(feeds, row, stamp, results);
        } else if (topic.equals(RECORDS)) {
            Optional<Feed> feed = feeds.ofStream(sender.stream());
            feed.ifPresent(each -> split(feeds, row, stamp, "stream/" + sender.stream(), each.type, results));
        } else {
            split(feeds, row, stamp, null, null, results);
        }
    }

    private void split(Feeds feeds, Row row, byte[] stamp, String user, String type, List<Row> results) {
        byte[] message = row.getAs(VALUE);
        long originMs = Math.floorDiv(Stamp.originUs(stamp), 1000L);
        List<Row> stamped = List.of(KafkaRows.header(Stamp.HEADER, stamp));
        try {
            if (message == null) {
                throw new Malformed("it is empty", "", user);
            }
            feeds.splitter.split(message, user, type, originMs, (id, change) ->
                    results.add(KafkaRows.row(CHANGES, key(feeds, id), change, stamped)));
        } catch (Malformed why) {
            results.add(letter(row, why.getMessage()));
            if (why.user != null) {
                byte[] outcome = feeds.messages.malformed(why.transaction, why.user, why.getMessage(), originMs);
                byte[] told = why.user.getBytes(StandardCharsets.UTF_8);
                results.add(KafkaRows.row(OUTCOMES, told, outcome, stamped));
            }
        }
    }

    private void takeMeasurement(Feeds feeds, Row row, byte[] stamp, List<Row> results) {
        byte[] key = row.getAs(KEY);
        String sensorKey = key == null ? "" : new String(key, StandardCharsets.UTF_8);
        if (!sensorKey.startsWith(feeds.prefix)) {
            return;
        }
        String sensor = sensorKey.substring(feeds.prefix.length());
        List<Feed> named = feeds.ofSensor(sensor);
        byte[] value = row.getAs(VALUE);
        Integer schemaId = named.isEmpty() ? null : Measured.schemaId(value);
        if (schemaId == null) {
            return;
        }
        Measured measured = feeds.schema(schemaId);
        if (measured == null) {
            waiting.add(feeds.guests, row)
                    .forEach(sentAway -> results.add(letter(sentAway, "its schema is not known")));
            return;
        }
        GenericRecord fields = measured.read(value);
        for (Feed feed : named) {
            if (fields != null && measured.subjects.contains(feed.subject)) {
                feed(feeds, feed, sensor, feeds.device(sensorKey), fields, stamp, row, results);
            }
        }
    }

    private static void feed(
            Feeds feeds,
            Feed feed,
            String sensor,
            String device,
            GenericRecord fields,
            byte[] stamp,
            Row row,
            List<Row> results) {
        String id = feed.objectOf(sensor, device);
        byte[] change = id == null ? null : FedChange.write(feeds, feed, sensor, id, fields, stamp);
        if (change == null) {
            return;
        }
        if (Names.isName(id)) {
            List<Row> stamped = List.of(KafkaRows.header(Stamp.HEADER, stamp));
            results.add(KafkaRows.row(CHANGES, key(feeds, id), change, stamped));
        } else {
            results.add(letter(row, Scalars.shown(id) + " is no id of an object"));
        }
    }

    private static byte[] key(Feeds feeds, String id) {
        return (feeds.prefix + id).getBytes(StandardCharsets.US_ASCII);
    }

    private static Row letter(Row row, String reason) {
        List<Row> all = KafkaRows.with(
                StoredRow.headers(row),
                KafkaRows.header(Names.REASON_HEADER, "malformed: " + reason),
                KafkaRows.header(Names.TOPIC_HEADER, row.getString(TOPIC)));
        return KafkaRows.row(DEADLETTER, row.getAs(KEY), row.getAs(VALUE), all);
    }
}
