package twins;

import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/**
 * Twins in Kafka Streams. The topic with which Streams keeps its store is the changelog that others read: so each
 * change is written twice, to that and to the history, as by Catchment. Without a cache, which would hold changes
 * back and let some out; without transactions, which Catchment does not use either.
 */
public final class KafkaStreamsPeer {
    private static final String STORE = "twins";

    private KafkaStreamsPeer() {}

    /** Runs until it is killed. */
    public static void main(String[] arguments) throws Exception {
        Settings settings = Json.settings(arguments[0]);
        KafkaStreams streams = new KafkaStreams(topology(settings), properties(settings));
        streams.setUncaughtExceptionHandler(error -> {
            error.printStackTrace();
            Runtime.getRuntime().halt(1);
            return null;
        });
        streams.start();
        Thread.currentThread().join();
    }

    private static Topology topology(Settings settings) {
        Apply apply = new Apply(settings.types);
        return new Topology()
                .addSource("changes", Serdes.String().deserializer(), Serdes.ByteArray().deserializer(), settings.changes)
                .addProcessor("apply", () -> new ApplyProcessor(apply), "changes")
                .addStateStore(store(settings), "apply")
                .addSink("history", settings.history, Serdes.String().serializer(), Serdes.ByteArray().serializer(), "apply")
                .addSink("refusals", settings.refusals, Serdes.String().serializer(), Serdes.ByteArray().serializer(), "apply");
    }

    private static StoreBuilder<KeyValueStore<String, Twin>> store(Settings settings) {
        Serde<Twin> twins = Serdes.serdeFrom(
                (topic, twin) -> twin == null ? null : Json.write(twin),
                (topic, json) -> json == null ? null : Json.read(json, Twin.class));
        return Stores.keyValueStoreBuilder(
                        settings.store.equals("memory")
                                ? Stores.inMemoryKeyValueStore(STORE)
                                : Stores.persistentKeyValueStore(STORE),
                        Serdes.String(),
                        twins)
                .withCachingDisabled()
                .withLoggingEnabled(Map.of());
    }

    private static Properties properties(Settings settings) {
        Properties properties = new Properties();
        properties.putAll(settings.kafka);
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, settings.application);
        properties.put(StreamsConfig.STATE_DIR_CONFIG, settings.stateDir);
        properties.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, settings.threads);
        properties.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, 1);
        properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.AT_LEAST_ONCE);
        properties.put(StreamsConfig.consumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest");
        // Back at once after a crash, and not when the group has given up waiting for the one that died.
        properties.put(StreamsConfig.consumerPrefix(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG), settings.application);
        settings.producer.forEach((name, value) -> properties.put(StreamsConfig.producerPrefix(name), value));
        return properties;
    }

    private static final class ApplyProcessor implements Processor<String, byte[], String, byte[]> {
        private final Apply apply;
        private ProcessorContext<String, byte[]> context;
        private KeyValueStore<String, Twin> twins;

        ApplyProcessor(Apply apply) {
            this.apply = apply;
        }

        @Override
        public void init(ProcessorContext<String, byte[]> given) {
            context = given;
            twins = given.getStateStore(STORE);
        }

        @Override
        public void process(Record<String, byte[]> message) {
            Change change = Json.read(message.value(), Change.class);
            try {
                Apply.Applied applied = apply.apply(twins.get(message.key()), change, Stamp.of(message.headers()));
                if (applied != null) {
                    twins.put(message.key(), applied.twin());
                    context.forward(message.withValue(Json.write(applied.update())), "history");
                }
            } catch (Refused refused) {
                context.forward(message.withValue(Json.write(Refusal.of(change, refused))), "refusals");
            }
        }
    }
}
