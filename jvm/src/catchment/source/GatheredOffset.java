package catchment.source;

import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;
import org.apache.spark.sql.kafka010.KafkaSourcePartitionOffset;

/** How far a task has come in each of its partitions. */
record GatheredOffset(Map<TopicPartition, Long> next) implements PartitionOffset {
    private static final long serialVersionUID = 1L;

    /** The same as Spark's stream knows it, a partition each. */
    Stream<PartitionOffset> apart() {
        return next.entrySet().stream().map(each -> new KafkaSourcePartitionOffset(each.getKey(), each.getValue()));
    }
}
