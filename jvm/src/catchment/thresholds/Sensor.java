package catchment.thresholds;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * All that is kept of one sensor: the time of its newest reading, the highest number of each source that its
 * readings came from, a watch for every rule that had something to say of it, and the rules that could not judge
 * it for its unit.
 */
public final class Sensor {
    private static final byte WITHOUT_UNJUDGED = 1;
    private static final byte VERSION = 2;

    private long newestMs = Long.MIN_VALUE;
    private final Map<String, Long> highestBySource = new TreeMap<>();
    private final Map<RuleKey, Watch> watches = new TreeMap<>();
    private final Map<RuleKey, Long> unjudged = new TreeMap<>();

    /** Notes where a reading comes from; false if it has been here before. */
    public boolean isNew(String source, long sequence) {
        Long highest = highestBySource.get(source);
        if (highest != null && sequence <= highest) {
            return false;
        }
        highestBySource.put(source, sequence);
        return true;
    }

    /** Judges a reading by the rules that are about this sensor. */
    public List<Event> take(Iterable<Rule> rules, Reading reading) {
        boolean late = reading.ms() < newestMs;
        newestMs = Math.max(newestMs, reading.ms());
        List<Event> events = new ArrayList<>();
        for (Rule rule : rules) {
            double value = reading.valueFor(rule);
            if (Double.isFinite(value)) {
                Watch watch = watches.getOrDefault(rule.key(), new Watch(rule.key()));
                watch.take(rule, reading, value, late).ifPresent(events::add);
                keep(rule.key(), watch);
            }
        }
        return events;
    }

    /** The rules that cannot judge a reading for its unit: each once, until the rule changes. */
    public List<Rule> newlyUnjudged(Iterable<Rule> rules, Reading reading) {
        List<Rule> found = new ArrayList<>();
        for (Rule rule : rules) {
            if (reading.isInUnitForeignTo(rule)) {
                Long toldVersion = unjudged.put(rule.key(), rule.terms().version());
                if (toldVersion == null || toldVersion != rule.terms().version()) {
                    found.add(rule);
                }
            }
        }
        return found;
    }

    /** Ends what is under way by rules that are about this sensor no more, or not as they were. */
    public List<Event> endOutdated(Function<RuleKey, Rule> current) {
        unjudged.keySet().removeIf(key -> current.apply(key) == null);
        List<Event> events = new ArrayList<>();
        for (RuleKey key : List.copyOf(watches.keySet())) {
            Watch watch = watches.get(key);
            if (watch.isOutdated(current.apply(key))) {
                watch.end().ifPresent(events::add);
                keep(key, watch);
            }
        }
        return events;
    }

    /** Takes over what was told without this state knowing of it, and ends what of it has not ended. */
    public List<Event> endTold(Iterable<Event> told) {
        Map<RuleKey, Watch> adopted = new TreeMap<>();
        for (Event event : told) {
            Watch watch = watches.computeIfAbsent(event.rule(), Watch::new);
            if (watch.adopt(event)) {
                adopted.put(event.rule(), watch);
            }
        }
        List<Event> events = new ArrayList<>();
        adopted.values().forEach(watch -> watch.end().ifPresent(events::add));
        return events;
    }

    private void keep(RuleKey ruleKey, Watch watch) {
        if (watch.isBlank()) {
            watches.remove(ruleKey);
        } else {
            watches.put(ruleKey, watch);
        }
    }

    /** As bytes, which {@link #fromBytes} reads. */
    public byte[] toBytes() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(VERSION);
            out.writeLong(newestMs);
            out.writeInt(highestBySource.size());
            for (Map.Entry<String, Long> source : highestBySource.entrySet()) {
                out.writeUTF(source.getKey());
                out.writeLong(source.getValue());
            }
            out.writeInt(watches.size());
            for (Watch watch : watches.values()) {
                watch.write(out);
            }
            out.writeInt(unjudged.size());
            for (Map.Entry<RuleKey, Long> rule : unjudged.entrySet()) {
                out.writeUTF(rule.getKey().toString());
                out.writeLong(rule.getValue());
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return bytes.toByteArray();
    }

    public static Sensor fromBytes(byte[] stored) {
        Sensor sensor = new Sensor();
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(stored))) {
            byte version = in.readByte();
            if (version != VERSION && version != WITHOUT_UNJUDGED) {
                throw new IllegalStateException("threshold state of version " + version + " is not known here");
            }
            sensor.newestMs = in.readLong();
            for (int left = in.readInt(); left > 0; left--) {
                sensor.highestBySource.put(in.readUTF(), in.readLong());
            }
            for (int left = in.readInt(); left > 0; left--) {
                Watch watch = Watch.read(in);
                sensor.watches.put(watch.rule(), watch);
            }
            for (int left = version == VERSION ? in.readInt() : 0; left > 0; left--) {
                sensor.unjudged.put(RuleKey.parse(in.readUTF()), in.readLong());
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return sensor;
    }
}
