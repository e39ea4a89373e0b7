package catchment.twins;

import catchment.control.ControlledProcessor;
import catchment.control.Declarations;
import catchment.control.KafkaRows;
import catchment.control.Timing;
import catchment.records.Names;
import catchment.records.Stamp;
import catchment.twins.Senders.Sender;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.ValueState;

/**
 * Changes of objects as an operator: what really changes becomes the new state and an update, what is refused an
 * outcome and a dead letter.
 */
public final class Twins extends ControlledProcessor<Shard> {
    private static final long serialVersionUID = 1L;
    private static final String TWINS = Names.topic("twins");
    private static final String HISTORY = Names.topic("twin-history");
    private static final String OUTCOMES = Names.topic("twin-outcomes");
    private static final String EVENTS = Names.topic("events");
    private static final String DEADLETTER = Names.topic("deadletter");

    private final String site;
    private final boolean allInMemory;
    private final String noticeSchema;
    private final int noticeSchemaId;
    private transient NoticeFormat format;
    private transient MapState<String, byte[]> objects;
    private transient ValueState<Long> seal;

    private Twins(
            String site, boolean allInMemory, Declarations atStart, String noticeSchema, int noticeSchemaId) {
        super(atStart);
        this.site = site;
        this.allInMemory = allInMemory;
        this.noticeSchema = noticeSchema;
        this.noticeSchemaId = noticeSchemaId;
    }

    /** Applies the operator; called from Python. */
    public static Dataset<Row> apply(
            Dataset<Row> rows,
            String site,
            boolean allInMemory,
            Declarations atStart,
            String noticeSchema,
            int noticeSchemaId) {
        Twins twins = new Twins(site, allInMemory, atStart, noticeSchema, noticeSchemaId);
        return run(rows, twins, KafkaRows.SCHEMA);
    }

    @Override
    protected Timing timing() {
        return Timing.of("twins");
    }

    @Override
    protected void opened() {
        objects = getHandle().getMapState("objects", Encoders.STRING(), Encoders.BINARY(), TTLConfig.NONE());
        format = new NoticeFormat(noticeSchema, noticeSchemaId);
        seal = getHandle().getValueState("seal", Encoders.LONG(), TTLConfig.NONE());
    }

    @Override
    protected Shard open(int shard) {
        Objects held = new Objects(objects, seal, allInMemory, site + "/" + shard);
        Shard opened = new Shard(site, held);
        if (held.goesOn()) {
            keepLater(opened);
        }
        return opened;
    }

    @Override
    protected void keep(Shard shard) {
        shard.objects.save();
    }

    @Override
    protected void learn(Shard shard, String topic, String key, byte[] value) {
        shard.learnType(key, value);
    }

    @Override
    protected void take(Shard shard, Row row, List<Row> results) {
        byte[] key = row.getAs(KEY);
        String id = key == null ? null : shard.idOf(new String(key, StandardCharsets.UTF_8));
        if (id == null) {
            return;
        }
        List<Row> headers = row.getList(HEADERS);
        byte[] stamp = KafkaRows.valueOf(headers, Stamp.HEADER);
        Sender sender = Stamp.isWhole(stamp) ? shard.senders.of(stamp) : null;
        byte[] value = row.getAs(VALUE);
        if (sender == null || value == null) {
            String lacks = sender == null ? "it has no stamp" : "it is empty";
            results.add(letter(row, headers, Refusal.MALFORMED.text() + ": " + lacks));
            return;
        }
        Change change = Change.read(value);
        Twin twin = shard.objects.get(id);
        if (twin.isNews(change.countedIn(sender), sender.epoch(), Stamp.sequence(stamp))) {
            Result result = Fold.apply(twin, change, shard.types);
            Notice notice = Notice.of(twin, change, result);
            shard.objects.put(id);
            keepLater(shard);
            if (notice != null) {
                byte[] event = format.write(site, id, notice);
                Row origin = KafkaRows.header(Names.ORIGIN_HEADER, Long.toString(Stamp.originUs(stamp)));
                results.add(KafkaRows.row(EVENTS, key, event, List.of(origin)));
            }
            write(shard, row, stamp, id, twin, change, result, results);
        }
    }

    private void write(
            Shard shard,
            Row row,
            byte[] stamp,
            String id,
            Twin twin,
            Change change,
            Result result,
            List<Row> results) {
        Row stamped = KafkaRows.header(Stamp.HEADER, stamp);
        byte[] key = row.getAs(KEY);
        if (result.isApplied()) {
            results.add(state(shard, stamped, Stamp.originUs(stamp), key, id, twin));
            byte[] update = shard.messages.update(id, twin, change, result);
            results.add(KafkaRows.row(HISTORY, key, update, List.of(stamped)));
        }
        if (result.isRefused()) {
            String reason = result.refusal().text() + ": " + result.reason();
            results.add(letter(row, row.getList(HEADERS), reason));
        }
        if (!change.user.isEmpty() && (change.confirm || result.isRefused())) {
            byte[] outcome = shard.messages.outcome(id, twin, change, result);
            byte[] user = change.user.getBytes(StandardCharsets.UTF_8);
            results.add(KafkaRows.row(OUTCOMES, user, outcome, List.of(stamped)));
        }
    }

    private static Row state(Shard shard, Row stamped, long originUs, byte[] key, String id, Twin twin) {
        Row origin = KafkaRows.header(Names.ORIGIN_HEADER, Long.toString(originUs));
        if (twin.isPresent()) {
            return KafkaRows.row(TWINS, key, shard.messages.twin(id, twin), List.of(stamped, origin));
        }
        Row version = KafkaRows.header(Names.VERSION_HEADER, Long.toString(twin.version()));
        return KafkaRows.row(TWINS, key, null, List.of(stamped, origin, version));
    }

    private static Row letter(Row row, List<Row> headers, String reason) {
        List<Row> all = KafkaRows.with(
                headers,
                KafkaRows.header(Names.REASON_HEADER, "refused: " + reason),
                KafkaRows.header(Names.TOPIC_HEADER, row.getString(TOPIC)));
        return KafkaRows.row(DEADLETTER, row.getAs(KEY), row.getAs(VALUE), all);
    }
}
