package catchment.queries;

import org.apache.spark.sql.catalyst.CatalystTypeConverters;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Values between boxes, which have them as Java does, and rows in Spark's own form. */
final class Internals {
    private Internals() {}

    /** A value as the boxes have it: text is a String, an array a Seq. */
    static Object plain(InternalRow row, int place, DataType type) {
        if (row.isNullAt(place)) {
            return null;
        }
        Object value = row.get(place, type);
        if (value instanceof UTF8String text) {
            return text.toString();
        }
        return value instanceof ArrayData ? CatalystTypeConverters.convertToScala(value, type) : value;
    }

    /** A value of a box as Spark has it. */
    static Object internal(Object value) {
        if (value instanceof String text) {
            return UTF8String.fromString(text);
        }
        // Java finds out slowly that a number has not an interface.
        if (!(value instanceof Number) && value instanceof Seq<?> list) {
            Object[] elements = CollectionConverters.asJava(list).toArray();
            internalise(elements, 0);
            return new GenericArrayData(elements);
        }
        return value;
    }

    /** Makes values of boxes Spark's, from a place on. */
    static void internalise(Object[] values, int from) {
        for (int each = from; each < values.length; each++) {
            values[each] = internal(values[each]);
        }
    }
}
