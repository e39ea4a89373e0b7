package queries;

import java.time.Duration;
import java.util.Arrays;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.TimeWindows;

/** The queries of the benchmark, in the words of Kafka Streams. */
final class Topologies {
    private static final Duration WINDOW = Duration.ofSeconds(1);
    private static final Duration NEAR = Duration.ofMillis(100);
    private static final Duration GRACE = Duration.ofHours(1);
    private static final Serde<String> TEXT = Serdes.String();

    private Topologies() {}

    static Topology of(String query, Settings settings) {
        StreamsBuilder builder = new StreamsBuilder();
        switch (query) {
            case "filter-map" -> write(filterMap(packets(builder, settings)), Rows.Named.class, query, settings);
            case "windowed-count" -> write(counts(packets(builder, settings)), Rows.Count.class, query, settings);
            case "windowed-join" -> write(join(builder, settings), Rows.Answered.class, query, settings);
            case "top" -> write(top(packets(builder, settings)), Rows.Ranked.class, query, settings);
            case "word-count" -> write(wordCount(builder, settings), Rows.Times.class, query, settings);
            default -> throw new IllegalArgumentException(query);
        }
        return builder.build();
    }

    private static KStream<String, Rows.Named> filterMap(KStream<String, Rows.Packet> packets) {
        return packets.filter((host, packet) -> packet.protocol.equals("tcp"))
                .map((host, packet) -> KeyValue.pair(
                        Long.toString(packet.serial),
                        new Rows.Named(packet.serial, packet.host.toUpperCase(java.util.Locale.ROOT), packet.bytes * 8)));
    }

    private static KStream<String, Rows.Count> counts(KStream<String, Rows.Packet> packets) {
        return packets.groupByKey(Grouped.with(TEXT, Json.serde(Rows.Packet.class)))
                .windowedBy(TimeWindows.ofSizeAndGrace(WINDOW, GRACE))
                .count(Materialized.with(TEXT, Serdes.Long()))
                .toStream()
                .map((window, count) -> KeyValue.pair(
                        window.key() + "/" + window.window().start(),
                        new Rows.Count(window.key(), window.window().start(), count)));
    }

    private static KStream<String, Rows.Answered> join(StreamsBuilder builder, Settings settings) {
        Serde<Rows.Call> serde = Json.serde(Rows.Call.class);
        KStream<String, Rows.Call> calls = builder.stream(
                settings.source, Consumed.with(TEXT, serde).withTimestampExtractor((record, before) -> ((Rows.Call) record.value()).time));
        KStream<String, Rows.Call> requests = calls.filter((device, call) -> call.side.equals("requests"));
        KStream<String, Rows.Call> answers = calls.filter((device, call) -> call.side.equals("answers"));
        return requests.join(
                        answers,
                        (request, answer) -> new Rows.Answered(request.device, request.serial, answer.serial),
                        JoinWindows.ofTimeDifferenceAndGrace(NEAR, GRACE),
                        StreamJoined.with(TEXT, serde, serde))
                .selectKey((device, pair) -> Long.toString(pair.asked()));
    }

    private static KStream<String, Rows.Ranked> top(KStream<String, Rows.Packet> packets) {
        Serde<Rows.Count> serde = Json.serde(Rows.Count.class);
        return counts(packets)
                .groupBy((key, count) -> Long.toString(count.windowStart()), Grouped.with(TEXT, serde))
                .aggregate(
                        () -> Rows.Busiest.NONE,
                        (window, count, busiest) -> busiest.with(count),
                        Materialized.with(TEXT, Json.serde(Rows.Busiest.class)))
                .toStream()
                .flatMap((window, busiest) -> busiest.changed().stream()
                        .map(each -> KeyValue.pair(each.windowStart() + "/" + each.rank(), each))
                        .toList());
    }

    private static KStream<String, Rows.Times> wordCount(StreamsBuilder builder, Settings settings) {
        return builder.stream(settings.source, Consumed.with(TEXT, TEXT))
                .flatMapValues(sentence -> Arrays.asList(sentence.split(" ")))
                .groupBy((speaker, word) -> word, Grouped.with(TEXT, TEXT))
                .count(Materialized.with(TEXT, Serdes.Long()))
                .toStream()
                .mapValues((word, times) -> new Rows.Times(word, times));
    }

    private static KStream<String, Rows.Packet> packets(StreamsBuilder builder, Settings settings) {
        return builder.stream(
                settings.source,
                Consumed.with(TEXT, Json.serde(Rows.Packet.class))
                        .withTimestampExtractor((record, before) -> ((Rows.Packet) record.value()).time));
    }

    private static <T> void write(KStream<String, T> results, Class<T> kind, String query, Settings settings) {
        results.to(settings.targets.get(query), Produced.with(TEXT, Json.serde(kind)));
    }
}
