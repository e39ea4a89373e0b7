package twins;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * Twins in PostgreSQL as an external object store: for every change the object is read, changed and written, in a
 * transaction of its own. Each worker has a connection. Nothing is written to Kafka.
 *
 * <p>Says now and then, as a line of JSON, how long the changes since the last line took, from their origin on.
 */
public final class PostgresPeer {
    private static final long REPORT_MS = 100;
    private static final String READ = "SELECT state FROM twins WHERE key = ? FOR UPDATE";
    private static final String WRITE = "INSERT INTO twins (key, version, state) VALUES (?, ?, ?::jsonb)"
            + " ON CONFLICT (key) DO UPDATE SET version = excluded.version, state = excluded.state";

    private final Settings settings;
    private final Apply apply;
    private final List<Double> delaysMs = new ArrayList<>();

    private PostgresPeer(Settings settings) {
        this.settings = settings;
        this.apply = new Apply(settings.types);
    }

    /** Runs until it is killed. */
    public static void main(String[] arguments) throws Exception {
        PostgresPeer peer = new PostgresPeer(Json.settings(arguments[0]));
        for (int worker = 0; worker < peer.settings.threads; worker++) {
            new Thread(peer::work).start();
        }
        while (true) {
            Thread.sleep(REPORT_MS);
            peer.report();
        }
    }

    private void report() {
        List<Double> taken;
        synchronized (delaysMs) {
            taken = List.copyOf(delaysMs);
            delaysMs.clear();
        }
        if (!taken.isEmpty()) {
            Map<String, Object> said = Map.of("at_us", nowUs(), "delays_ms", taken);
            System.out.println(new String(Json.write(said), StandardCharsets.UTF_8));
        }
    }

    private void work() {
        try (KafkaConsumer<String, byte[]> consumer = consumer();
                Connection database = connect();
                PreparedStatement read = database.prepareStatement(READ);
                PreparedStatement write = database.prepareStatement(WRITE)) {
            consumer.subscribe(List.of(settings.changes));
            while (true) {
                for (ConsumerRecord<String, byte[]> message : consumer.poll(Duration.ofSeconds(1))) {
                    take(message, database, read, write);
                }
            }
        } catch (SQLException | RuntimeException error) {
            error.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private void take(
            ConsumerRecord<String, byte[]> message,
            Connection database,
            PreparedStatement read,
            PreparedStatement write)
            throws SQLException {
        Stamp stamp = Stamp.of(message.headers());
        try {
            Apply.Applied applied = apply.apply(stored(read, message.key()), Json.read(message.value(), Change.class), stamp);
            if (applied != null) {
                write.setString(1, message.key());
                write.setLong(2, applied.twin().version);
                write.setString(3, new String(Json.write(applied.twin()), StandardCharsets.UTF_8));
                write.executeUpdate();
            }
        } catch (Refused refused) {
            System.err.println(refused.refusal + ": " + refused.getMessage());
        }
        database.commit();
        synchronized (delaysMs) {
            delaysMs.add((nowUs() - stamp.originUs()) / 1000.0);
        }
    }

    private static Twin stored(PreparedStatement read, String key) throws SQLException {
        read.setString(1, key);
        try (ResultSet found = read.executeQuery()) {
            return found.next() ? Json.read(found.getBytes(1), Twin.class) : null;
        }
    }

    private KafkaConsumer<String, byte[]> consumer() {
        Properties properties = new Properties();
        properties.putAll(settings.kafka);
        properties.put(ConsumerConfig.GROUP_ID_CONFIG, settings.application);
        properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        return new KafkaConsumer<>(properties, new StringDeserializer(), new ByteArrayDeserializer());
    }

    private Connection connect() throws SQLException {
        Connection database =
                DriverManager.getConnection(settings.database, settings.databaseUser, settings.databasePassword);
        database.setAutoCommit(false);
        return database;
    }

    private static long nowUs() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }
}
