package catchment.twins;

import catchment.control.ControlledProcessor;
import catchment.control.Declarations;
import catchment.control.KafkaRows;
import catchment.control.WaitingRoom;
import catchment.records.Names;
import catchment.records.Stamp;
import catchment.twins.Senders.Sender;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.avro.generic.GenericRecord;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Feeds as an operator: records of streams that a feed names, and measurements that a feed names, become one change
 * for each object.
 */
public final class Fed extends ControlledProcessor<Feeds> {
    private static final long serialVersionUID = 1L;
    private static final UTF8String MEASUREMENTS = KafkaRows.topic("measurements");
    private static final String FEEDS = Names.topic("twin-feeds");
    private static final String SENSORS = Names.topic("sensor-registration");
    private static final String SCHEMAS = Names.topic("schemas");

    private final String site;
    private transient WaitingRoom waiting;

    private Fed(String site, Declarations atStart) {
        super(atStart);
        this.site = site;
    }

    /** Applies the operator; called from Python. */
    public static Dataset<Row> apply(Dataset<Row> rows, String site, Declarations atStart) {
        return run(rows, new Fed(site, atStart));
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
    protected void changed(Feeds feeds, String topic, String key, List<InternalRow> results) {
        if (topic.equals(SCHEMAS)) {
            waiting.leave(feeds.guests).forEach(row -> take(feeds, row, results));
        }
    }

    @Override
    protected void take(Feeds feeds, InternalRow row, List<InternalRow> results) {
        byte[] stamp = KafkaRows.stamp(KafkaRows.headers(row, HEADERS));
        Sender sender = Stamp.isWhole(stamp) ? feeds.senders.of(stamp) : null;
        // The ledger has the word on records without a valid stamp.
        if (sender == null || !sender.site().equals(site)) {
            return;
        }
        if (row.getUTF8String(TOPIC).equals(MEASUREMENTS)) {
            takeMeasurement(feeds, row, stamp, results);
        } else {
            String user = "stream/" + sender.stream();
            feeds.ofStream(sender.stream())
                    .ifPresent(feed -> feeds.splitting.split(message(row), stamp, user, feed.type, results));
        }
    }

    private void takeMeasurement(Feeds feeds, InternalRow row, byte[] stamp, List<InternalRow> results) {
        byte[] key = KafkaRows.bytes(row, KEY);
        String sensorKey = key == null ? "" : new String(key, StandardCharsets.UTF_8);
        if (!sensorKey.startsWith(feeds.prefix)) {
            return;
        }
        String sensor = sensorKey.substring(feeds.prefix.length());
        List<Feed> named = feeds.ofSensor(sensor);
        byte[] value = KafkaRows.bytes(row, VALUE);
        Integer schemaId = named.isEmpty() ? null : Measured.schemaId(value);
        if (schemaId == null) {
            return;
        }
        Measured measured = feeds.schema(schemaId);
        if (measured == null) {
            waiting.add(feeds.guests, row)
                    .forEach(sentAway -> results.add(Splitting.letter(message(sentAway), "its schema is not known")));
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
            InternalRow row,
            List<InternalRow> results) {
        String id = feed.objectOf(sensor, device);
        byte[] change = id == null ? null : FedChange.write(feeds, feed, sensor, id, fields, stamp);
        if (change == null) {
            return;
        }
        if (Names.isName(id)) {
            results.add(feeds.splitting.change(id, change, stamp));
        } else {
            results.add(Splitting.letter(message(row), Scalars.shown(id) + " is no id of an object"));
        }
    }

    private static Splitting.Message message(InternalRow row) {
        return new Splitting.Message(
                row.getUTF8String(TOPIC),
                KafkaRows.bytes(row, KEY),
                KafkaRows.bytes(row, VALUE),
                KafkaRows.headers(row, HEADERS));
    }
}
