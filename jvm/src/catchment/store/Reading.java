package catchment.store;

import java.util.List;

/** A row on its way into a table: its columns as one line of COPY, without what is known only on arrival. */
public record Reading(Shape shape, List<String> key, StampKey stamp, long timestampMs, String line) {}
