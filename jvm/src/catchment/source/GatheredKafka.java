package catchment.source;

import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.kafka010.KafkaMicroBatchStream;
import org.apache.spark.sql.kafka010.KafkaSourceProvider;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Spark's Kafka source in real-time mode, with a few tasks that read many partitions each.
 *
 * <p>Spark's own has a task, a consumer and a connection for each partition, and a way in the shuffle from each of
 * them to each task behind it. At a high pace most of the time goes into carrying small batches along all of these.
 * Options, columns, offsets and checkpoints are those of Spark's source; {@code sourceTasks} says how many tasks
 * read, at most, and {@code reading} which {@link Reading} makes the rows, with the text {@code readingSpec}.
 */
public final class GatheredKafka implements TableProvider {
    static final String TASKS = "sourceTasks";

    private final KafkaSourceProvider kafka = new KafkaSourceProvider();

    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        ReadingSpec reading = ReadingSpec.of(options);
        return reading.isAsked() ? reading.make().schema() : kafka.inferSchema(options);
    }

    @Override
    public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
        return new Topics(kafka.getTable(schema, partitioning, properties), schema);
    }

    private record Topics(Table table, StructType made) implements SupportsRead {
        @Override
        public String name() {
            return table.name();
        }

        @Override
        @SuppressWarnings("deprecation")
        public StructType schema() {
            return made;
        }

        @Override
        public Set<TableCapability> capabilities() {
            return Set.of(TableCapability.MICRO_BATCH_READ);
        }

        @Override
        public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
            Scan scan = ((SupportsRead) table).newScanBuilder(options).build();
            int tasks = options.getInt(TASKS, Integer.MAX_VALUE);
            ReadingSpec reading = ReadingSpec.of(options);
            return () -> new Gathered(scan, made, tasks, reading);
        }
    }

    private record Gathered(Scan scan, StructType readSchema, int tasks, ReadingSpec reading) implements Scan {

        @Override
        public MicroBatchStream toMicroBatchStream(String checkpoint) {
            return new GatheredStream((KafkaMicroBatchStream) scan.toMicroBatchStream(checkpoint), tasks, reading);
        }
    }
}
