package catchment.source;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReportsSourceMetrics;
import org.apache.spark.sql.connector.read.streaming.SupportsAdmissionControl;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeMode;
import org.apache.spark.sql.kafka010.KafkaBatchInputPartition;
import org.apache.spark.sql.kafka010.KafkaMicroBatchStream;

/** Spark's stream of Kafka, whose partitions are dealt out to a number of tasks. All else is Spark's. */
final class GatheredStream
        implements MicroBatchStream, SupportsRealTimeMode, SupportsAdmissionControl, ReportsSourceMetrics {
    /** Those of a topic stand together, so that each task gets its share of every topic. */
    private static final Comparator<KafkaBatchInputPartition> BY_TOPIC = Comparator.comparing(
                    (KafkaBatchInputPartition each) -> each.offsetRange().topic())
            .thenComparing(each -> each.offsetRange().partition());

    private final KafkaMicroBatchStream kafka;
    private final int tasks;
    private final ReadingSpec reading;

    GatheredStream(KafkaMicroBatchStream kafka, int tasks, ReadingSpec reading) {
        this.kafka = kafka;
        this.tasks = tasks;
        this.reading = reading;
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start) {
        List<KafkaBatchInputPartition> planned = Arrays.stream(kafka.planInputPartitions(start))
                .map(KafkaBatchInputPartition.class::cast)
                .sorted(BY_TOPIC)
                .toList();
        int used = Math.min(tasks, planned.size());
        return IntStream.range(0, used)
                .mapToObj(task -> GatheredPartition.of(IntStream.range(0, planned.size())
                        .filter(index -> index % used == task)
                        .mapToObj(planned::get)
                        .toList()))
                .toArray(InputPartition[]::new);
    }

    @Override
    public Offset mergeOffsets(PartitionOffset[] offsets) {
        return kafka.mergeOffsets(Arrays.stream(offsets)
                .flatMap(each -> ((GatheredOffset) each).apart())
                .toArray(PartitionOffset[]::new));
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        ReadingSpec asked = reading;
        return partition -> new GatheredReader((GatheredPartition) partition, asked);
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start, Offset end) {
        throw new UnsupportedOperationException("this source is for queries in real-time mode");
    }

    @Override
    public void prepareForRealTimeMode() {
        kafka.prepareForRealTimeMode();
    }

    @Override
    public Offset initialOffset() {
        return kafka.initialOffset();
    }

    @Override
    public Offset deserializeOffset(String json) {
        return kafka.deserializeOffset(json);
    }

    @Override
    public Offset latestOffset() {
        return kafka.latestOffset();
    }

    @Override
    public Offset latestOffset(Offset start, ReadLimit limit) {
        return kafka.latestOffset(start, limit);
    }

    @Override
    public ReadLimit getDefaultReadLimit() {
        return kafka.getDefaultReadLimit();
    }

    @Override
    public Offset reportLatestOffset() {
        return kafka.reportLatestOffset();
    }

    @Override
    public Map<String, String> metrics(Optional<Offset> consumed) {
        return kafka.metrics(consumed);
    }

    @Override
    public void commit(Offset end) {
        kafka.commit(end);
    }

    @Override
    public void stop() {
        kafka.stop();
    }

    @Override
    public String toString() {
        return "Gathered" + kafka;
    }
}
