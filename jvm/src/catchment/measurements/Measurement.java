package catchment.measurements;

import org.apache.avro.generic.GenericRecord;

/** A reading of one sensor: in Confluent's wire format, and as the record that was written there. */
public record Measurement(String sensor, long timestampMs, byte[] wire, GenericRecord record) {}
