package catchment.control;

import catchment.records.Names;
import catchment.records.Stamp;
import java.nio.charset.StandardCharsets;
import java.util.function.BiConsumer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** Rows as they go to Kafka, in Spark's own form: topic, key, value and headers. */
public final class KafkaRows {
    public static final UTF8String STAMP_HEADER = UTF8String.fromString(Stamp.HEADER);
    public static final UTF8String ORIGIN_HEADER = UTF8String.fromString(Names.ORIGIN_HEADER);
    public static final UTF8String VERSION_HEADER = UTF8String.fromString(Names.VERSION_HEADER);
    public static final UTF8String REASON_HEADER = UTF8String.fromString(Names.REASON_HEADER);
    public static final UTF8String TOPIC_HEADER = UTF8String.fromString(Names.TOPIC_HEADER);

    static final int HEADER_PARTS = 2;
    private static final StructType HEADER =
            new StructType().add("key", DataTypes.StringType).add("value", DataTypes.BinaryType);

    public static final StructType SCHEMA = new StructType()
            .add("topic", DataTypes.StringType)
            .add("key", DataTypes.BinaryType)
            .add("value", DataTypes.BinaryType)
            .add("headers", DataTypes.createArrayType(HEADER));

    private KafkaRows() {}

    /** The topic of a kind. */
    public static UTF8String topic(String kind) {
        return UTF8String.fromString(Names.topic(kind));
    }

    public static InternalRow row(UTF8String topic, byte[] key, byte[] value, ArrayData headers) {
        return new GenericInternalRow(new Object[] {topic, key, value, headers});
    }

    public static ArrayData headers(InternalRow... headers) {
        return new GenericArrayData(headers);
    }

    public static InternalRow header(UTF8String name, byte[] value) {
        return new GenericInternalRow(new Object[] {name, value});
    }

    public static InternalRow header(UTF8String name, String value) {
        return header(name, value.getBytes(StandardCharsets.UTF_8));
    }

    /** The headers of a record that could not be used: its own, why, and where it was. */
    public static ArrayData ofLetter(ArrayData headers, String reason, UTF8String topic) {
        int given = headers.numElements();
        InternalRow[] all = new InternalRow[given + 2];
        for (int each = 0; each < given; each++) {
            // Theirs are only good until the next row.
            all[each] = headers.getStruct(each, HEADER_PARTS).copy();
        }
        all[given] = header(REASON_HEADER, reason);
        all[given + 1] = header(TOPIC_HEADER, topic.getBytes());
        return headers(all);
    }

    /** The value of the first header of that name; null if there is none. */
    public static byte[] valueOf(ArrayData headers, UTF8String name) {
        for (int each = 0; each < headers.numElements(); each++) {
            InternalRow header = headers.getStruct(each, HEADER_PARTS);
            if (name.equals(header.getUTF8String(0))) {
                return bytes(header, 1);
            }
        }
        return null;
    }

    /** Gives every header by name and value. */
    public static void forEach(ArrayData headers, BiConsumer<UTF8String, byte[]> taker) {
        for (int each = 0; each < headers.numElements(); each++) {
            InternalRow header = headers.getStruct(each, HEADER_PARTS);
            taker.accept(header.getUTF8String(0), bytes(header, 1));
        }
    }

    /** The stamp among headers; null if there is none. */
    public static byte[] stamp(ArrayData headers) {
        return valueOf(headers, STAMP_HEADER);
    }

    /** The bytes of a column; null if it is null. */
    public static byte[] bytes(InternalRow row, int place) {
        return row.isNullAt(place) ? null : row.getBinary(place);
    }

    /** The headers in a column; none if it is null. */
    public static ArrayData headers(InternalRow row, int place) {
        return row.isNullAt(place) ? headers() : row.getArray(place);
    }
}
