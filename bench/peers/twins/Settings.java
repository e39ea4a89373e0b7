package twins;

import java.util.Map;

/** What the benchmark says to its peers: a file of JSON, the only argument of each. */
final class Settings {
    /** Settings of every Kafka client: where the broker is, and the certificate. */
    public Map<String, String> kafka;
    /** How producers gather records into batches. */
    public Map<String, String> producer = Map.of();
    public String changes;
    public String history;
    public String refusals;
    public Map<String, TwinType> types;
    /** Kafka's group, and the beginning of the names of topics of Kafka Streams. */
    public String application;
    public int threads;
    /** For Kafka Streams: rocksdb or memory, and where it keeps its state. */
    public String store;
    public String stateDir;
    /** For PostgreSQL. */
    public String database;
    public String databaseUser;
    public String databasePassword;
}
