package catchment.measurements;

import catchment.control.ControlledProcessor;
import catchment.control.Declarations;
import catchment.control.KafkaRows;
import catchment.measurements.Mappings.Mapped;
import catchment.records.Names;
import catchment.records.Stamp;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Mappings as an operator: a record of a stream that a mapping names becomes a measurement or a dead letter,
 * and the first measurement of a sensor also an entry of the sensors that were seen.
 */
public final class Measurements extends ControlledProcessor<Mappings> {
    private static final long serialVersionUID = 1L;
    private static final String MAPPINGS = Names.topic("mappings");
    private static final UTF8String MEASUREMENTS = KafkaRows.topic("measurements");
    private static final UTF8String SEEN_SENSORS = KafkaRows.topic("sensor-seen");

    private final String site;
    private transient MapState<String, Boolean> seen;

    private Measurements(String site, Declarations atStart) {
        super(atStart);
        this.site = site;
    }

    /** Applies the operator; called from Python. */
    public static Dataset<Row> apply(Dataset<Row> rows, String site, Declarations atStart) {
        return run(rows, new Measurements(site, atStart));
    }

    @Override
    protected void opened() {
        seen = getHandle().getMapState("seen", Encoders.STRING(), Encoders.BOOLEAN(), TTLConfig.NONE());
    }

    @Override
    protected Mappings open(int shard) {
        return new Mappings(site);
    }

    @Override
    protected void learn(Mappings known, String topic, String key, byte[] value) {
        if (topic.equals(MAPPINGS)) {
            known.learnMapping(key, value);
        } else {
            known.learnSchema(key, value);
        }
    }

    @Override
    protected void take(Mappings known, InternalRow row, List<InternalRow> results) {
        byte[] stamp = KafkaRows.stamp(row.getArray(HEADERS));
        // The ledger has the word on records without a valid stamp.
        Optional<Mapped> mapped = Stamp.isWhole(stamp) ? known.of(Stamp.identity(stamp)) : Optional.empty();
        if (mapped.isEmpty()) {
            return;
        }
        try {
            write(known, mapped.get(), stamp, KafkaRows.bytes(row, VALUE), results);
        } catch (Unmappable why) {
            results.add(letter(row, "unmappable: " + why.getMessage()));
        }
    }

    private void write(Mappings known, Mapped mapped, byte[] stamp, byte[] message, List<InternalRow> results)
            throws Unmappable {
        Measurement measurement =
                known.mapper.map(mapped.mapping(), mapped.stream(), Stamp.originUs(stamp), message);
        byte[] key = (site + "/" + measurement.sensor()).getBytes(StandardCharsets.UTF_8);
        ArrayData stamped = KafkaRows.headers(KafkaRows.header(KafkaRows.STAMP_HEADER, stamp));
        results.add(KafkaRows.row(MEASUREMENTS, key, measurement.wire(), stamped));
        if (known.sensors.add(measurement.sensor()) && !seen.containsKey(measurement.sensor())) {
            seen.updateValue(measurement.sensor(), true);
            byte[] entry = Readings.seen(site, mapped.mapping().subject(), mapped.stream(), measurement);
            results.add(KafkaRows.row(SEEN_SENSORS, key, entry, stamped));
        }
    }
}
