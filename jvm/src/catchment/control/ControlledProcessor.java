package catchment.control;

import catchment.control.Declarations.Declaration;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * An operator over shards whose declarations (mappings, schemas, rules …) change while it runs.
 *
 * <p>Input rows are those of catchment/pipeline/control.py. A row of data belongs to one shard; a declaration
 * comes to every shard that it concerns. Each shard keeps the declarations that it knows in its state, so
 * that they are as exact after a crash as everything else, and a {@code View} of them, compiled once, in
 * memory.
 *
 * <ol>
 *   <li>A shard that is touched for the first time by this instance opens a view and learns what it knows.
 *   <li>If the query was started since the shard was last used, it first takes over what the driver read
 *       ({@link Declarations}): that is at least as new as its state, and lacks what was removed meanwhile.
 *   <li>A declaration that comes as a row and was not part of that is learnt, and kept in the state.
 * </ol>
 *
 * <p>State of one's own is made in {@link #opened}; it belongs to the shard whose row is being handled.
 */
public abstract class ControlledProcessor<V> extends StatefulProcessor<Integer, InternalRow, InternalRow> {
    private static final long serialVersionUID = 1L;

    /** Columns of the input, by number: this is the hot path. */
    public static final int SHARD = 0;

    public static final int DECLARED = 1;
    public static final int TOPIC = 2;
    public static final int PARTITION = 3;
    public static final int OFFSET = 4;
    public static final int KEY = 5;
    public static final int VALUE = 6;
    public static final int HEADERS = 7;

    private static final UTF8String DEADLETTER = KafkaRows.topic("deadletter");

    private final Declarations atStart;
    private transient MapState<String, byte[]> declarations;
    private transient ValueState<Long> generation;
    private transient Map<Integer, V> views;
    private transient Set<V> toKeep;
    private transient Timing timing;

    protected ControlledProcessor(Declarations atStart) {
        this.atStart = atStart;
    }

    /** Runs a processor over rows, live or in a batch; its results are for Kafka. */
    protected static <V> Dataset<Row> run(Dataset<Row> rows, ControlledProcessor<V> processor) {
        return rows.groupBy("shard")
                .as(Encoders.INT(), SparkRows.encoder(rows.schema()))
                .transformWithState(
                        processor, TimeMode.None(), OutputMode.Update(), SparkRows.encoder(KafkaRows.SCHEMA))
                .toDF();
    }

    /** Makes state of one's own, if there is any. */
    protected void opened() {}

    /** Where the time that each row of data takes is counted; nowhere if it is null. */
    protected Timing timing() {
        return null;
    }

    /** A view of a shard that knows of no declaration yet. */
    protected abstract V open(int shard);

    /** Takes a declaration into the view; a value of null takes it out. Nothing is to be written here. */
    protected abstract void learn(V view, String topic, String key, byte[] value);

    /**
     * Called once for each declaration that really changed, after all that are known have been learnt: what
     * follows from it may be written.
     */
    protected void changed(V view, String topic, String key, List<InternalRow> results) {}

    /** Handles a row of data, which is only good until the next. */
    protected abstract void take(V view, InternalRow row, List<InternalRow> results);

    /** A row of data that cannot be used, for the dead letters. */
    protected static InternalRow letter(InternalRow row, String reason) {
        ArrayData headers = KafkaRows.ofLetter(KafkaRows.headers(row, HEADERS), reason, row.getUTF8String(TOPIC));
        return KafkaRows.row(DEADLETTER, KafkaRows.bytes(row, KEY), KafkaRows.bytes(row, VALUE), headers);
    }

    /** Puts what a view holds back into the state; called before the checkpoint if {@link #keepLater} was. */
    protected void keep(V view) {}

    /** Asks for {@link #keep}; again once that was called. */
    protected final void keepLater(V view) {
        toKeep.add(view);
    }

    private void keepAll() {
        views.forEach((shard, view) -> {
            if (toKeep.remove(view)) {
                BeforeCommit.withStateOf(shard, () -> keep(view));
            }
        });
    }

    @Override
    public final void init(OutputMode outputMode, TimeMode timeMode) {
        declarations = getHandle()
                .getMapState("declarations", Encoders.STRING(), Encoders.BINARY(), TTLConfig.NONE());
        generation = getHandle().getValueState("generation", Encoders.LONG(), TTLConfig.NONE());
        views = new HashMap<>();
        toKeep = Collections.newSetFromMap(new IdentityHashMap<>());
        timing = timing();
        BeforeCommit.call(getHandle(), this::keepAll);
        opened();
    }

    @Override
    public final Iterator<InternalRow> handleInputRows(Integer shard, Iterator<InternalRow> rows, TimerValues timers) {
        List<InternalRow> results = new ArrayList<>(2);
        V view = views.get(shard);
        if (view == null) {
            view = begin(shard, results);
            views.put(shard, view);
        }
        while (rows.hasNext()) {
            InternalRow row = rows.next();
            if (row.getBoolean(DECLARED)) {
                hear(view, row, results);
            } else {
                taken(view, row, results);
            }
        }
        return CollectionConverters.asScala(results.iterator());
    }

    private void taken(V view, InternalRow row, List<InternalRow> results) {
        if (timing == null) {
            take(view, row, results);
            return;
        }
        long began = System.nanoTime();
        take(view, row, results);
        timing.add(System.nanoTime() - began);
    }

    private V begin(int shard, List<InternalRow> results) {
        V view = open(shard);
        Map<String, Known> known = known();
        List<String> differing = isOfThisStart() ? List.of() : takeOver(shard, known);
        known.forEach((name, each) -> learn(view, topicOf(name), keyOf(name), each.value()));
        differing.forEach(name -> changed(view, topicOf(name), keyOf(name), results));
        return view;
    }

    private boolean isOfThisStart() {
        return generation.exists() && generation.get() == atStart.generation();
    }

    /** Makes the state, and what is known of it, what the driver read; says what differed. */
    private List<String> takeOver(int shard, Map<String, Known> known) {
        Map<String, Known> outdated = new HashMap<>(known);
        List<String> differing = new ArrayList<>();
        known.clear();
        for (Declaration each : atStart.of(shard)) {
            String name = name(each.topic(), each.key());
            Known before = outdated.remove(name);
            Known now = new Known(each.offset(), each.value());
            known.put(name, now);
            declarations.updateValue(name, now.toBytes());
            if (before == null || !Arrays.equals(before.value(), now.value())) {
                differing.add(name);
            }
        }
        outdated.forEach((name, each) -> {
            declarations.removeKey(name);
            if (each.value() != null) {
                differing.add(name);
            }
        });
        generation.update(atStart.generation());
        return differing;
    }

    private Map<String, Known> known() {
        Map<String, Known> known = new LinkedHashMap<>();
        Iterator<Tuple2<String, byte[]>> stored = declarations.iterator();
        while (stored.hasNext()) {
            Tuple2<String, byte[]> each = stored.next();
            known.put(each._1(), Known.fromBytes(each._2()));
        }
        return known;
    }

    private void hear(V view, InternalRow row, List<InternalRow> results) {
        byte[] keyBytes = KafkaRows.bytes(row, KEY);
        if (keyBytes == null) {
            return;
        }
        String topic = row.getUTF8String(TOPIC).toString();
        String key = new String(keyBytes, StandardCharsets.UTF_8);
        Known news = new Known(row.getLong(OFFSET), KafkaRows.bytes(row, VALUE));
        if (isNews(name(topic, key), row.getInt(PARTITION), news.offset())) {
            // What was removed keeps its place until the next start, so that an older value is no news.
            declarations.updateValue(name(topic, key), news.toBytes());
            learn(view, topic, key, news.value());
            changed(view, topic, key, results);
        }
    }

    /** What the driver had read, or what comes again, is no news. */
    private boolean isNews(String name, int partition, long offset) {
        if (offset < atStart.reached(topicOf(name), partition)) {
            return false;
        }
        return !declarations.containsKey(name)
                || Known.fromBytes(declarations.getValue(name)).offset() < offset;
    }

    /** No topic has a space in its name. */
    private static String name(String topic, String key) {
        return topic + " " + key;
    }

    private static String topicOf(String name) {
        return name.substring(0, name.indexOf(' '));
    }

    private static String keyOf(String name) {
        return name.substring(name.indexOf(' ') + 1);
    }

    /** A declaration in the state, with its place in the topic; without a value if it was removed. */
    private record Known(long offset, byte[] value) {
        private static final byte REMOVED = 0;
        private static final byte PRESENT = 1;

        byte[] toBytes() {
            int length = value == null ? 0 : value.length;
            ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES + 1 + length).putLong(offset);
            bytes.put(value == null ? REMOVED : PRESENT);
            return value == null ? bytes.array() : bytes.put(value).array();
        }

        static Known fromBytes(byte[] stored) {
            ByteBuffer bytes = ByteBuffer.wrap(stored);
            long offset = bytes.getLong();
            boolean present = bytes.get() == PRESENT;
            return new Known(offset, present ? Arrays.copyOfRange(stored, bytes.position(), stored.length) : null);
        }
    }
}
