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
 * readings came from, and a watch for every rule that had something to say of it.
 */
public final class Sensor {
    private static final byte VERSION = 1;

    private long newestMs = Long.MIN_VALUE;
    private final Map<String, Long> highestBySource = new TreeMap<>();
    private final Map<RuleKey, Watch> watches = new TreeMap<>();

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

    /** Ends what is under way by rules that are about this sensor no more, or not as they were. */
    public List<Event> endOutdated(Function<RuleKey, Rule> current) {
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
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return bytes.toByteArray();
    }

    public static Sensor fromBytes(byte[] stored) {
        Sensor sensor = new Sensor();
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(stored))) {
            byte version = in.readByte();
            if (version != VERSION) {
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
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return sensor;
    }
}
