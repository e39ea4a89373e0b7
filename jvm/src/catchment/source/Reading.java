package catchment.source;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * What a query reads of records, if it is not the columns of Spark's Kafka source: a class with a constructor that
 * takes one text. Spark does not copy a record then before the query has looked into it.
 */
public interface Reading {
    /** The columns of its rows. */
    StructType schema();

    /** The row of a record, which stays as it is; null if nothing of it is of interest. */
    InternalRow read(ConsumerRecord<byte[], byte[]> record);
}
