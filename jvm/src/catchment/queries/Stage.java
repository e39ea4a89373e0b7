package catchment.queries;

import catchment.control.BeforeCommit;
import catchment.control.KafkaRows;
import catchment.control.Seals;
import catchment.control.SparkRows;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The boxes with state that are next in a query, as one operator over shards, in a stream or a batch.
 *
 * <p>Rows of all streams come together, each with the edge of the graph that it is on; those that are for no box of
 * this stage pass. What a box gives may go straight to another of the stage ({@link Feed}). What a shard holds is in
 * memory, and is put into Spark's state before each checkpoint ({@link Seals}, {@link BeforeCommit}).
 */
public final class Stage extends StatefulProcessor<Integer, InternalRow, InternalRow> {
    private static final long serialVersionUID = 1L;
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Columns of the input by number, after the shard; those of the output are one place before. */
    private static final int TICK_MS = 1;

    private static final int ID = 2;
    private static final int SIGN = 3;
    private static final int ORIGIN_US = 4;
    private static final int VERSION = 5;
    private static final int ASIDE = 6;
    private static final int EDGE = 7;

    private final String query;
    private final String place;
    private final String spec;
    private final DataType[] types;
    private final int width;
    private transient MapState<byte[], byte[]> entries;
    private transient ValueState<Long> seal;
    private transient StageSpec stage;
    private transient Map<Integer, Shard> shards;
    private transient Meter[] meters;
    private transient Asides[] asides;

    private Stage(String query, String place, String spec, StructType schema, int width) {
        this.query = query;
        this.place = place;
        this.spec = spec;
        this.width = width;
        this.types = Arrays.stream(schema.fields()).map(StructField::dataType).toArray(DataType[]::new);
    }

    /**
     * Applies the boxes; called from Python.
     *
     * @param place tells this stage apart from all others in this process
     * @param spec what its boxes are asked for, as JSON
     * @param columns the columns of their results, and of rows that pass
     */
    public static Dataset<Row> apply(Dataset<Row> rows, String query, String place, String spec, String columns) {
        StructType output = new StructType()
                .add("_tick_ms", DataTypes.LongType)
                .add("_id", DataTypes.StringType)
                .add("_sign", DataTypes.IntegerType)
                .add("_origin_us", DataTypes.LongType)
                .add("_version", DataTypes.LongType)
                .add("_aside", KafkaRows.SCHEMA)
                .add("_edge", DataTypes.IntegerType);
        for (StructField column : StructType.fromDDL(columns).fields()) {
            output = output.add(column);
        }
        return rows.groupBy("shard")
                .as(Encoders.INT(), SparkRows.encoder(rows.schema()))
                .transformWithState(
                        new Stage(query, place, spec, rows.schema(), output.size()),
                        TimeMode.None(),
                        OutputMode.Update(),
                        SparkRows.encoder(output))
                .toDF();
    }

    private static final class Shard {
        private final ShardBoxes boxes;
        private final Output[] outputs;
        /** Whether nothing has come since all was put into the state. */
        private boolean isSaved;

        private Shard(ShardBoxes boxes, Output[] outputs) {
            this.boxes = boxes;
            this.outputs = outputs;
        }
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        entries = getHandle().getMapState("entries", Encoders.BINARY(), Encoders.BINARY(), TTLConfig.NONE());
        seal = getHandle().getValueState("seal", Encoders.LONG(), TTLConfig.NONE());
        shards = new HashMap<>();
        BeforeCommit.call(getHandle(), this::save);
        try {
            stage = StageSpec.of(JSON.readTree(spec));
        } catch (JsonProcessingException error) {
            throw new IllegalArgumentException(error);
        }
        int boxes = stage.boxes().size();
        meters = new Meter[boxes];
        asides = new Asides[boxes];
        for (int each = 0; each < boxes; each++) {
            StageSpec.BoxSpec box = stage.boxes().get(each);
            meters[each] = Meter.of(query, box.name());
            asides[each] = new Asides(query, box.name(), box.spec());
        }
    }

    @Override
    public Iterator<InternalRow> handleInputRows(Integer number, Iterator<InternalRow> rows, TimerValues timers) {
        Shard shard = shards.get(number);
        if (shard == null) {
            shard = open(number);
            shards.put(number, shard);
        }
        shard.isSaved = false;
        List<InternalRow> results = new ArrayList<>(2);
        for (Output output : shard.outputs) {
            output.rows = results;
        }
        while (rows.hasNext()) {
            handle(number, shard, rows.next(), results);
        }
        return CollectionConverters.asScala(results.iterator());
    }

    private void handle(int number, Shard shard, InternalRow row, List<InternalRow> results) {
        if (!row.isNullAt(TICK_MS)) {
            tick(number, shard, row, results);
            return;
        }
        Integer box = row.isNullAt(ASIDE) ? stage.byEdge().get(row.getInt(EDGE)) : null;
        if (box == null) {
            pass(row, results);
            return;
        }
        long originUs = row.isNullAt(ORIGIN_US) ? 0 : row.getLong(ORIGIN_US);
        shard.outputs[box].take(new Change(
                row.isNullAt(ID) ? null : row.getUTF8String(ID).toString(),
                row.getInt(SIGN),
                originUs,
                column -> Internals.plain(row, column, types[column])));
    }

    private void tick(int number, Shard shard, InternalRow row, List<InternalRow> results) {
        for (int each = 0; each < shard.outputs.length; each++) {
            shard.boxes.folds[each].tick(row.getLong(TICK_MS), shard.outputs[each]);
        }
        if (number == 0 && stage.handsTicksOn()) {
            pass(row, results);
        }
    }

    private void pass(InternalRow row, List<InternalRow> results) {
        Object[] passed = new Object[width];
        for (int each = TICK_MS; each <= EDGE; each++) {
            passed[each - 1] = copied(row, each);
        }
        for (int each = 0; each < stage.passed(); each++) {
            passed[stage.firstPassedOut() + each] = copied(row, stage.firstPassed() + each);
        }
        results.add(new GenericInternalRow(passed));
    }

    /** A value that is good for longer than its row. */
    private Object copied(InternalRow row, int place) {
        return row.isNullAt(place) ? null : InternalRow.copyValue(row.get(place, types[place]));
    }

    private Shard open(int number) {
        ShardBoxes boxes = (ShardBoxes) Seals.take(place + "/" + number, seal);
        if (boxes == null) {
            boxes = new ShardBoxes(stage);
            Iterator<Tuple2<byte[], byte[]>> stored = entries.iterator();
            while (stored.hasNext()) {
                Tuple2<byte[], byte[]> each = stored.next();
                boxes.restore(each._1(), each._2());
            }
            boxes.begin();
        }
        Output[] outputs = new Output[boxes.folds.length];
        for (int each = 0; each < outputs.length; each++) {
            outputs[each] = new Output(each, boxes.folds[each], outputs);
        }
        return new Shard(boxes, outputs);
    }

    private void save() {
        shards.forEach((number, shard) -> {
            if (!shard.isSaved) {
                BeforeCommit.withStateOf(number, () -> save(number, shard));
            }
        });
    }

    private void save(int number, Shard shard) {
        shard.boxes.save(this::put);
        Seals.put(place + "/" + number, seal, shard.boxes);
        shard.isSaved = true;
    }

    private void put(byte[] key, byte[] value) {
        if (value == null) {
            entries.removeKey(key);
        } else {
            entries.updateValue(key, value);
        }
    }

    /** A box in a shard, and what it gives there. */
    private final class Output implements Results {
        private final int box;
        private final Fold fold;
        private final StageSpec.BoxSpec spec;
        private final Output[] all;
        private List<InternalRow> rows;

        private Output(int box, Fold fold, Output[] all) {
            this.box = box;
            this.fold = fold;
            this.spec = stage.boxes().get(box);
            this.all = all;
        }

        private void take(Change change) {
            meters[box].came();
            fold.take(change, this);
        }

        @Override
        public void give(int sign, String id, long originUs, Object[] row) {
            meters[box].left(originUs);
            for (Feed feed : spec.feeds()) {
                all[feed.box()].take(feed.change(sign, id, originUs, row));
            }
            if (spec.leaves()) {
                leave(sign, id, originUs, row);
            }
        }

        private void leave(int sign, String id, long originUs, Object[] row) {
            Object[] wide = new Object[width];
            wide[ID - 1] = UTF8String.fromString(id);
            wide[SIGN - 1] = sign;
            wide[ORIGIN_US - 1] = originUs;
            wide[VERSION - 1] = Versions.next();
            wide[EDGE - 1] = spec.edge();
            for (int each = Change.META; each < row.length; each++) {
                wide[spec.firstOutput() + each - Change.META] = Internals.internal(row[each]);
            }
            rows.add(new GenericInternalRow(wide));
        }

        @Override
        public void setAside(Change late, String reason) {
            meters[box].late();
            letGo(asides[box].late(late, reason));
        }

        @Override
        public void refuse(Change change, String reason) {
            meters[box].refused();
            letGo(asides[box].refused(change, reason));
        }

        @Override
        public void noteLate() {
            meters[box].late();
        }

        private void letGo(InternalRow aside) {
            Object[] wide = new Object[width];
            wide[ASIDE - 1] = aside;
            rows.add(new GenericInternalRow(wide));
        }
    }
}
