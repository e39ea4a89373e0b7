package catchment.twins;

import catchment.control.ControlledProcessor;
import catchment.control.Declarations;
import catchment.control.KafkaRows;
import catchment.control.Timing;
import catchment.records.Stamp;
import catchment.twins.Senders.Sender;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Changes of objects as an operator: what really changes becomes the new state and an update, what is refused an
 * outcome and a dead letter.
 */
public final class Twins extends ControlledProcessor<Shard> {
    private static final long serialVersionUID = 1L;
    private static final UTF8String TWINS = KafkaRows.topic("twins");
    private static final UTF8String HISTORY = KafkaRows.topic("twin-history");
    private static final UTF8String OUTCOMES = KafkaRows.topic("twin-outcomes");
    private static final UTF8String EVENTS = KafkaRows.topic("events");

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
        return run(rows, twins);
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
    protected void take(Shard shard, InternalRow row, List<InternalRow> results) {
        byte[] key = KafkaRows.bytes(row, KEY);
        String id = key == null ? null : shard.idOf(new String(key, StandardCharsets.UTF_8));
        if (id == null) {
            return;
        }
        byte[] stamp = KafkaRows.stamp(row.getArray(HEADERS));
        Sender sender = Stamp.isWhole(stamp) ? shard.senders.of(stamp) : null;
        byte[] value = KafkaRows.bytes(row, VALUE);
        if (sender == null || value == null) {
            String lacks = sender == null ? "it has no stamp" : "it is empty";
            results.add(refused(row, Refusal.MALFORMED.text() + ": " + lacks));
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
                results.add(KafkaRows.row(EVENTS, key, event, KafkaRows.headers(origin(stamp))));
            }
            write(shard, row, key, stamp, id, twin, change, result, results);
        }
    }

    private void write(
            Shard shard,
            InternalRow row,
            byte[] key,
            byte[] stamp,
            String id,
            Twin twin,
            Change change,
            Result result,
            List<InternalRow> results) {
        InternalRow stamped = KafkaRows.header(KafkaRows.STAMP_HEADER, stamp);
        if (result.isApplied()) {
            results.add(state(shard, stamped, origin(stamp), key, id, twin));
            byte[] update = shard.messages.update(id, twin, change, result);
            results.add(KafkaRows.row(HISTORY, key, update, KafkaRows.headers(stamped)));
        }
        if (result.isRefused()) {
            results.add(refused(row, result.refusal().text() + ": " + result.reason()));
        }
        if (!change.user.isEmpty() && (change.confirm || result.isRefused())) {
            byte[] outcome = shard.messages.outcome(id, twin, change, result);
            byte[] user = change.user.getBytes(StandardCharsets.UTF_8);
            results.add(KafkaRows.row(OUTCOMES, user, outcome, KafkaRows.headers(stamped)));
        }
    }

    private static InternalRow state(
            Shard shard, InternalRow stamped, InternalRow origin, byte[] key, String id, Twin twin) {
        if (twin.isPresent()) {
            ArrayData headers = KafkaRows.headers(stamped, origin);
            return KafkaRows.row(TWINS, key, shard.messages.twin(id, twin), headers);
        }
        InternalRow version = KafkaRows.header(KafkaRows.VERSION_HEADER, Long.toString(twin.version()));
        return KafkaRows.row(TWINS, key, null, KafkaRows.headers(stamped, origin, version));
    }

    private static InternalRow origin(byte[] stamp) {
        return KafkaRows.header(KafkaRows.ORIGIN_HEADER, Long.toString(Stamp.originUs(stamp)));
    }

    private static InternalRow refused(InternalRow row, String reason) {
        return letter(row, "refused: " + reason);
    }
}
