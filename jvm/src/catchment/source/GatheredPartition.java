package catchment.source;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.kafka010.KafkaBatchInputPartition;

/** What one task reads: several partitions, each from an offset on. */
record GatheredPartition(
        Map<TopicPartition, Long> from, Map<String, Object> consumer, boolean failOnDataLoss, boolean includeHeaders)
        implements InputPartition {
    private static final long serialVersionUID = 1L;

    static GatheredPartition of(List<KafkaBatchInputPartition> partitions) {
        KafkaBatchInputPartition first = partitions.get(0);
        Map<TopicPartition, Long> from = partitions.stream()
                .map(KafkaBatchInputPartition::offsetRange)
                .collect(Collectors.toMap(each -> each.topicPartition(), each -> each.fromOffset()));
        return new GatheredPartition(
                from, first.executorKafkaParams(), first.failOnDataLoss(), first.includeHeaders());
    }
}
