package queries;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.state.BuiltInDslStoreSuppliers;

/**
 * The queries of the benchmark in Kafka Streams, one after the other. State is in memory, which is faster than
 * RocksDB, and kept in topics. Without a cache, which would hold results back and let some of them out; without
 * transactions, which Catchment does not use either.
 */
public final class KafkaStreamsPeer {
    private static final long LOOK_MS = 50;

    private KafkaStreamsPeer() {}

    /** Runs until it is killed. */
    public static void main(String[] arguments) throws Exception {
        Settings settings = Json.settings(arguments[0]);
        String turn = "";
        KafkaStreams running = null;
        while (true) {
            String asked = read(Path.of(settings.turn));
            if (!asked.equals(turn)) {
                if (running != null) {
                    running.close(Duration.ofSeconds(5));
                }
                turn = asked;
                running = turn.isEmpty() ? null : start(turn, settings);
                Files.writeString(Path.of(settings.taken), turn);
            }
            Thread.sleep(LOOK_MS);
        }
    }

    private static String read(Path file) throws IOException {
        return Files.exists(file) ? Files.readString(file) : "";
    }

    /** A turn is QUERY:NAME. */
    private static KafkaStreams start(String turn, Settings settings) {
        String[] parts = turn.split(":");
        KafkaStreams streams = new KafkaStreams(Topologies.of(parts[0], settings), properties(parts[1], settings));
        streams.setUncaughtExceptionHandler(error -> {
            error.printStackTrace();
            Runtime.getRuntime().halt(1);
            return null;
        });
        streams.start();
        return streams;
    }

    private static Properties properties(String application, Settings settings) {
        Properties properties = new Properties();
        properties.putAll(settings.kafka);
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, settings.application + "-" + application);
        properties.put(StreamsConfig.STATE_DIR_CONFIG, settings.stateDir);
        properties.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, settings.threads);
        properties.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, 1);
        properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.AT_LEAST_ONCE);
        properties.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
        properties.put(
                StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG, BuiltInDslStoreSuppliers.InMemoryDslStoreSuppliers.class);
        properties.put(StreamsConfig.consumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest");
        settings.producer.forEach((name, value) -> properties.put(StreamsConfig.producerPrefix(name), value));
        return properties;
    }
}
