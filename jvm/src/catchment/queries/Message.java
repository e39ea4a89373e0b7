package catchment.queries;

import org.apache.spark.sql.catalyst.util.ArrayData;

/** A message of a topic, with its headers in Spark's form. */
record Message(int partition, long offset, long loggedMs, byte[] key, byte[] value, ArrayData headers) {}
