package catchment.control;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/** Rows as they go to Kafka: topic, key, value and headers. */
public final class KafkaRows {
    private static final StructType HEADER =
            new StructType().add("key", DataTypes.StringType).add("value", DataTypes.BinaryType);

    public static final StructType SCHEMA = new StructType()
            .add("topic", DataTypes.StringType)
            .add("key", DataTypes.BinaryType)
            .add("value", DataTypes.BinaryType)
            .add("headers", DataTypes.createArrayType(HEADER));

    private KafkaRows() {}

    public static Row row(String topic, byte[] key, byte[] value, Collection<Row> headers) {
        return RowFactory.create(topic, key, value, CollectionConverters.asScala(headers).toSeq());
    }

    public static Row header(String name, byte[] value) {
        return RowFactory.create(name, value);
    }

    public static Row header(String name, String value) {
        return header(name, value.getBytes(StandardCharsets.UTF_8));
    }

    /** The value of the first header of that name; null if there is none. */
    public static byte[] valueOf(List<Row> headers, String name) {
        for (Row header : headers) {
            if (name.equals(header.getString(0))) {
                return header.getAs(1);
            }
        }
        return null;
    }

    /** The headers and some more, as a list of its own. */
    public static List<Row> with(List<Row> headers, Row... more) {
        List<Row> all = new ArrayList<>(headers);
        all.addAll(List.of(more));
        return all;
    }
}
