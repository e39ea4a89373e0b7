package catchment.control;

import java.io.Serializable;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.DataTypes;

/** The stamp among the headers of a record, as a column; Spark's own functions over arrays are slow. */
public final class Stamps implements Serializable {
    private static final long serialVersionUID = 1L;

    private Stamps() {}

    /** The column, null where there is no stamp; called from Python. */
    public static Column of(Column headers) {
        return SparkRows.call(new Stamps(), "find", DataTypes.BinaryType, headers);
    }

    /** Called from Spark's plans. */
    public byte[] find(ArrayData headers) {
        return headers == null ? null : KafkaRows.stamp(headers);
    }
}
