package catchment.thresholds;

import catchment.control.ControlledProcessor;
import catchment.control.Declarations;
import catchment.control.InUse;
import catchment.control.KafkaRows;
import catchment.control.WaitingRoom;
import catchment.records.Names;
import catchment.records.Stamp;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.Iterator;

/**
 * Rules as an operator: measurements come in, events and dead letters go out.
 *
 * <p>Of each sensor that a rule is about there is a {@link Sensor} in the state, and in memory while it is in
 * use. A rule or a registration that
 * changes ends at once what is under way and does not apply any more.
 *
 * <p>A measurement whose schema is not known yet waits for it in a {@link WaitingRoom}.
 */
public final class Thresholds extends ControlledProcessor<Shard> {
    private static final long serialVersionUID = 1L;
    private static final String RULES = Names.topic("rules");
    private static final String SENSORS = Names.topic("sensor-registration");
    private static final String SENSOR_TYPES = Names.topic("sensor-type-registration");
    private static final String SCHEMAS = Names.topic("schemas");
    private static final UTF8String EVENTS = KafkaRows.topic("events");

    private final String eventSchema;
    private final int eventSchemaId;
    private final Told told;
    private transient EventFormat format;
    private transient MapState<String, byte[]> sensors;
    private transient WaitingRoom waiting;

    private Thresholds(Declarations atStart, String eventSchema, int eventSchemaId, Told told) {
        super(atStart);
        this.eventSchema = eventSchema;
        this.eventSchemaId = eventSchemaId;
        this.told = told;
    }

    /** Applies the operator; called from Python. */
    public static Dataset<Row> apply(
            Dataset<Row> rows, Declarations atStart, String eventSchema, int eventSchemaId, Told told) {
        return run(rows, new Thresholds(atStart, eventSchema, eventSchemaId, told));
    }

    @Override
    protected void opened() {
        format = new EventFormat(eventSchema, eventSchemaId);
        sensors = getHandle().getMapState("sensors", Encoders.STRING(), Encoders.BINARY(), TTLConfig.NONE());
        waiting = new WaitingRoom(getHandle().getListState("waiting", Encoders.BINARY(), TTLConfig.NONE()));
    }

    @Override
    protected Shard open(int shard) {
        return new Shard(told.of(shard, format), new InUse<>(new SensorState()));
    }

    @Override
    protected void keep(Shard shard) {
        shard.sensors().save();
    }

    @Override
    protected void learn(Shard shard, String topic, String key, byte[] value) {
        if (topic.equals(RULES)) {
            shard.learnRule(key, value);
        } else if (topic.equals(SENSORS)) {
            shard.learnSensor(key, value);
        } else if (topic.equals(SENSOR_TYPES)) {
            shard.learnType(key, value);
        } else {
            shard.learnSchema(value);
        }
    }

    @Override
    protected void changed(Shard shard, String topic, String key, List<InternalRow> results) {
        if (topic.equals(RULES)) {
            RuleKey rule = RuleKey.parse(key);
            knownSensors(shard).forEach(sensor -> endOutdated(shard, sensor, rule::equals, results));
        } else if (topic.equals(SENSORS) && (shard.sensors().get(key) != null || shard.toldOf().contains(key))) {
            endOutdated(shard, key, rule -> true, results);
        } else if (topic.equals(SCHEMAS)) {
            waiting.leave(shard.guests()).forEach(row -> take(shard, row, results));
        }
    }

    @Override
    protected void take(Shard shard, InternalRow row, List<InternalRow> results) {
        byte[] key = KafkaRows.bytes(row, KEY);
        String sensorKey = key == null ? "" : new String(key, StandardCharsets.UTF_8);
        try {
            if (sensorKey.indexOf('/') < 0) {
                throw new Undecodable("its key is not SITE/SENSOR");
            }
            List<Rule> rules = shard.rulesFor(sensorKey);
            if (!rules.isEmpty()) {
                judge(shard, sensorKey, rules, row, results);
            }
        } catch (Undecodable error) {
            results.add(letter(row, "undecodable: " + error.getMessage()));
        }
    }

    private void judge(
            Shard shard, String sensorKey, List<Rule> rules, InternalRow row, List<InternalRow> results)
            throws Undecodable {
        byte[] value = KafkaRows.bytes(row, VALUE);
        byte[] stamp = KafkaRows.stamp(KafkaRows.headers(row, HEADERS));
        if (!Stamp.isWhole(stamp)) {
            throw new Undecodable("it has no stamp");
        }
        Decoder decoder = shard.decoder(Decoder.schemaId(value));
        if (decoder == null) {
            for (InternalRow sentAway : waiting.add(shard.guests(), row)) {
                results.add(letter(sentAway, "undecodable: its schema is not known"));
            }
            return;
        }
        long originUs = Stamp.originUs(stamp);
        Reading reading = decoder.read(value, originUs / 1000, shard.usualUnit(sensorKey));
        Sensor sensor = load(shard, sensorKey);
        if (sensor.isNew(Stamp.identity(stamp), Stamp.sequence(stamp))) {
            List<Event> events = sensor.take(rules, reading);
            sensor.newlyUnjudged(rules, reading).forEach(rule -> results.add(letter(row, unjudged(rule, reading))));
            store(shard, sensorKey, sensor);
            for (Event event : events) {
                InternalRow origin = KafkaRows.header(KafkaRows.ORIGIN_HEADER, Long.toString(originUs));
                results.add(eventRow(sensorKey, event, KafkaRows.headers(origin)));
            }
        }
    }

    private static String unjudged(Rule rule, Reading reading) {
        return "unjudged: the rule " + rule.key() + " is in " + rule.terms().unit() + ", and the sensor's readings are in "
                + reading.unit();
    }

    private void endOutdated(Shard shard, String sensorKey, Predicate<RuleKey> concerned, List<InternalRow> results) {
        // Without state, its readings come again from the first on: only rules that changed since are in doubt.
        boolean isKnown = shard.sensors().get(sensorKey) != null;
        Predicate<RuleKey> inDoubt = rule -> isKnown || shard.hasChanged(sensorKey, rule);
        Sensor sensor = load(shard, sensorKey);
        List<Event> events = sensor.endTold(shard.told(sensorKey, concerned.and(inDoubt)));
        events.addAll(sensor.endOutdated(rule -> shard.ruleFor(sensorKey, rule)));
        store(shard, sensorKey, sensor);
        events.forEach(event -> results.add(eventRow(sensorKey, event, KafkaRows.headers())));
    }

    private Set<String> knownSensors(Shard shard) {
        shard.sensors().save();
        Set<String> keys = new TreeSet<>(shard.toldOf());
        Iterator<String> stored = sensors.keys();
        while (stored.hasNext()) {
            keys.add(stored.next());
        }
        return keys;
    }

    private static Sensor load(Shard shard, String sensorKey) {
        Sensor known = shard.sensors().get(sensorKey);
        return known == null ? new Sensor() : known;
    }

    private void store(Shard shard, String sensorKey, Sensor sensor) {
        shard.sensors().put(sensorKey, sensor);
        keepLater(shard);
    }

    private final class SensorState implements InUse.State<Sensor> {
        @Override
        public Sensor read(String sensorKey) {
            byte[] stored = sensors.getValue(sensorKey);
            return stored == null ? null : Sensor.fromBytes(stored);
        }

        @Override
        public void write(String sensorKey, Sensor sensor) {
            sensors.updateValue(sensorKey, sensor.toBytes());
        }
    }

    private InternalRow eventRow(String sensorKey, Event event, ArrayData headers) {
        byte[] value = format.write(Shard.siteOf(sensorKey), Shard.idOf(sensorKey), event);
        return KafkaRows.row(EVENTS, sensorKey.getBytes(StandardCharsets.UTF_8), value, headers);
    }
}
