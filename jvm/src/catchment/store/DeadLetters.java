package catchment.store;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Where records go that no table takes: as they were, with the reason and the topic they came from. */
final class DeadLetters implements AutoCloseable {
    private final StoreSettings settings;
    private KafkaProducer<byte[], byte[]> producer;

    DeadLetters(StoreSettings settings) {
        this.settings = settings;
    }

    /** Sends all, and comes back when Kafka has them. */
    void send(List<Item> items) throws InterruptedException, ExecutionException {
        List<Future<RecordMetadata>> sent = items.stream().map(this::send).toList();
        for (Future<RecordMetadata> each : sent) {
            each.get();
        }
    }

    private Future<RecordMetadata> send(Item item) {
        var letter = new ProducerRecord<>(settings.deadLetterTopic(), item.key(), item.value());
        if (item.stamp() != null) {
            letter.headers().add(settings.stampHeader(), item.stamp());
        }
        String reason = "unstorable: " + item.reason() + " (store " + settings.name() + ")";
        letter.headers().add(settings.reasonHeader(), reason.getBytes(StandardCharsets.UTF_8));
        letter.headers().add(settings.topicHeader(), item.topic().getBytes(StandardCharsets.UTF_8));
        return producer().send(letter);
    }

    /** Made for the first letter: most stores never need it. */
    private KafkaProducer<byte[], byte[]> producer() {
        if (producer == null) {
            Map<String, Object> options = new HashMap<>(settings.kafka());
            options.put("delivery.timeout.ms", String.valueOf(Integer.MAX_VALUE));
            producer = new KafkaProducer<>(options, new ByteArraySerializer(), new ByteArraySerializer());
        }
        return producer;
    }

    @Override
    public void close() {
        if (producer != null) {
            producer.close();
        }
    }
}
