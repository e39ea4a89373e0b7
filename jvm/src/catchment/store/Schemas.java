package catchment.store;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.Schema;
import org.apache.avro.SchemaParseException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Schemas by their id. An id is made of the schema's content and so never changes its meaning: what is
 * known stays known, and the topic is read again only for an id that is not.
 */
public final class Schemas {
    // A relay may bring a reading before its schema; for so long it is waited for.
    private static final long PATIENCE_MS = 10_000;
    private static final long PAUSE_MS = 500;
    private static final long UNKNOWN_FOR_MS = 60_000;
    private static final Duration POLL = Duration.ofMillis(500);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Map<String, String> kafka;
    private final String topic;
    private final Map<Integer, Schema> known = new ConcurrentHashMap<>();
    private final Map<Integer, Long> unknownSinceMs = new ConcurrentHashMap<>();

    public Schemas(Map<String, String> kafka, String topic) {
        this.kafka = kafka;
        this.topic = topic;
    }

    /** The schema with an id, waited for if need be. */
    public Schema get(int id) throws Unstorable, InterruptedException {
        Schema schema = known.get(id);
        return schema != null ? schema : find(id);
    }

    private synchronized Schema find(int id) throws Unstorable, InterruptedException {
        long beganMs = System.currentTimeMillis();
        boolean givenUp = beganMs - unknownSinceMs.getOrDefault(id, 0L) < UNKNOWN_FOR_MS;
        while (!known.containsKey(id)) {
            if (givenUp || System.currentTimeMillis() - beganMs > PATIENCE_MS) {
                unknownSinceMs.putIfAbsent(id, System.currentTimeMillis());
                throw new Unstorable("there is no schema with the id " + id);
            }
            readAll();
            if (!known.containsKey(id)) {
                Thread.sleep(PAUSE_MS);
            }
        }
        unknownSinceMs.remove(id);
        return known.get(id);
    }

    private void readAll() {
        Map<String, Object> settings = new java.util.HashMap<>(kafka);
        settings.put("enable.auto.commit", "false");
        settings.put("isolation.level", "read_committed");
        var bytes = new ByteArrayDeserializer();
        try (var consumer = new KafkaConsumer<>(settings, bytes, bytes)) {
            List<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
                    .map(each -> new TopicPartition(topic, each.partition()))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
                consumer.poll(POLL).forEach(this::keep);
            }
        }
    }

    private void keep(ConsumerRecord<byte[], byte[]> entry) {
        try {
            JsonNode fields = entry.value() == null ? null : JSON.readTree(entry.value());
            if (fields != null && fields.hasNonNull("id") && fields.hasNonNull("schema")) {
                Schema schema = new Schema.Parser().parse(fields.get("schema").asText());
                known.putIfAbsent(fields.get("id").asInt(), schema);
            }
        } catch (IOException | SchemaParseException error) {
            // Compatibility settings and what others may have written there: not a schema of ours.
        }
    }
}
