package catchment.lake;

import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Writes a batch to files of all its tables in one pass, in the executors. A file belongs to its table once the driver
 * has committed it.
 */
public final class Lake {
    private Lake() {}

    /** Reports of the tasks as JSON, called from Python; the plan is that of catchment/lake/plan.py. */
    public static List<String> write(Dataset<Row> batch, String plan) {
        FlatMapFunction<Iterator<InternalRow>, String> task =
                rows -> List.of(new BatchTask(plan).run(rows)).iterator();
        return batch.queryExecution().toRdd().toJavaRDD().mapPartitions(task).collect();
    }
}
