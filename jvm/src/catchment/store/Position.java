package catchment.store;

/** A partition of a topic. */
public record Position(String topic, int partition) {}
