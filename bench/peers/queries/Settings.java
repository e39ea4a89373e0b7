package queries;

import java.util.Map;

/** What the benchmark says to its peer: a file of JSON, its only argument. */
final class Settings {
    /** Settings of every Kafka client: where the broker is, and the certificate. */
    public Map<String, String> kafka;
    /** How producers gather records into batches. */
    public Map<String, String> producer;
    public String source;
    /** The topic of each query's results. */
    public Map<String, String> targets;
    /** The beginning of Kafka's groups, and of the names of topics of Kafka Streams. */
    public String application;
    public int threads;
    public String stateDir;
    /** A file that says which query is to run now. */
    public String turn;
    /** A file in which it says that it does so. */
    public String taken;
}
