package catchment.ledger;

import catchment.records.Stamp;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The ledger as an operator: {@link Tally} for every source, one row out for each row in.
 *
 * <p>Input: identity string, stamp binary, letter struct. A row with a letter has no valid
 * stamp and is handed on as it is. A live stream gives one row at a time; in a batch all rows of a source come
 * together, and every one of them still gives a row.
 */
public final class Ledger extends StatefulProcessor<String, Row, Row> {
    private static final long serialVersionUID = 1L;
    private static final int RANGES_SHOWN = 100;

    private transient ValueState<byte[]> tallies;
    private transient ValueState<byte[]> gaps;

    /** Applies the operator; called from Python. */
    public static Dataset<Row> apply(Dataset<Row> stamps) {
        return stamps.groupBy("identity")
                .as(Encoders.STRING(), Encoders.row(stamps.schema()))
                .transformWithState(
                        new Ledger(),
                        TimeMode.None(),
                        OutputMode.Update(),
                        Encoders.row(outputSchema(stamps.schema())));
    }

    private static StructType outputSchema(StructType input) {
        return new StructType()
                .add("identity", DataTypes.StringType)
                .add("version", DataTypes.LongType)
                .add("received", DataTypes.LongType)
                .add("highest", DataTypes.LongType)
                .add("duplicates", DataTypes.LongType)
                .add("out_of_order", DataTypes.LongType)
                .add("missing", DataTypes.LongType)
                .add("gaps", DataTypes.createArrayType(DataTypes.createArrayType(DataTypes.LongType)))
                .add("first_origin_us", DataTypes.LongType)
                .add("last_origin_us", DataTypes.LongType)
                .add("origin_us", DataTypes.LongType)
                .add("letter", input.apply("letter").dataType());
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        tallies = getHandle().getValueState("tally", Encoders.BINARY(), TTLConfig.NONE());
        gaps = getHandle().getValueState("gaps", Encoders.BINARY(), TTLConfig.NONE());
    }

    @Override
    public Iterator<Row> handleInputRows(String identity, Iterator<Row> rows, TimerValues timers) {
        List<Row> results = new ArrayList<>();
        Tally tally = load();
        boolean counted = false;
        while (rows.hasNext()) {
            Row row = rows.next();
            Row letter = row.getAs("letter");
            if (letter != null) {
                results.add(handedOn(letter));
                continue;
            }
            byte[] stamp = row.getAs("stamp");
            tally.add(Stamp.sequence(stamp), Stamp.originUs(stamp));
            results.add(result(identity, tally, Stamp.originUs(stamp)));
            counted = true;
        }
        if (counted) {
            store(tally);
        }
        return CollectionConverters.asScala(results.iterator());
    }

    private Tally load() {
        byte[] stored = tallies.get();
        return stored == null ? new Tally() : Tally.fromBytes(stored, this::loadGaps);
    }

    private Gaps loadGaps() {
        byte[] stored = gaps.get();
        return stored == null ? new Gaps() : Gaps.fromBytes(stored);
    }

    private void store(Tally tally) {
        tallies.update(tally.toBytes());
        if (tally.gapsChanged()) {
            gaps.update(tally.gaps().toBytes());
        }
    }

    private static Row result(String identity, Tally tally, long originUs) {
        long[][] gaps = tally.missing() == 0 ? new long[0][] : tally.gaps().lowest(RANGES_SHOWN);
        return RowFactory.create(
                identity,
                tally.version(),
                tally.received(),
                tally.highest(),
                tally.duplicates(),
                tally.outOfOrder(),
                tally.missing(),
                gaps,
                tally.firstOriginUs(),
                tally.lastOriginUs(),
                originUs,
                null);
    }

    private static Row handedOn(Row letter) {
        return RowFactory.create(null, null, null, null, null, null, null, null, null, null, null, letter);
    }
}
