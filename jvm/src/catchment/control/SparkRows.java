package catchment.control;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.ForeachWriter;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.GetColumnByOrdinal;
import org.apache.spark.sql.catalyst.encoders.AgnosticEncoder;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.CreateNamedStruct;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.ObjectType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Spark's rows in its own form, for operators that every record passes: to convert each row into an object of the
 * public API and back costs more than most operators do themselves.
 */
public final class SparkRows {
    private SparkRows() {}

    /** What writes rows with a writer that takes them as they are; called from Python. */
    public static DataStreamWriter<InternalRow> writing(Dataset<Row> rows, ForeachWriter<InternalRow> writer) {
        return rows.as(encoder(rows.schema())).writeStream().foreach(writer);
    }

    /** A column that a method of an object computes, from arguments in Spark's own form. */
    public static Column call(Object target, String method, DataType type, Column... arguments) {
        List<Expression> given = new ArrayList<>();
        for (Column each : arguments) {
            given.add(ExpressionUtils.expression(each));
        }
        return ExpressionUtils.column(invoked(Literal.fromObject(target), method, type, given, false));
    }

    /** Rows as Spark has them; text in a row that is read is only good until the next row. */
    @SuppressWarnings("unchecked")
    public static Encoder<InternalRow> encoder(StructType schema) {
        AgnosticEncoder<?> ofRows = (AgnosticEncoder<?>) Encoders.row(schema);
        return new ExpressionEncoder<>((AgnosticEncoder<InternalRow>) ofRows, written(schema), read(schema));
    }

    /** Gives back the row that it is given; called from Spark's plans. */
    public static final class Same implements Serializable {
        private static final long serialVersionUID = 1L;

        public InternalRow row(InternalRow row) {
            return row;
        }
    }

    private static Expression read(StructType schema) {
        Expression whole = new GetColumnByOrdinal(0, schema);
        List<Expression> parts = new ArrayList<>();
        for (int each = 0; each < schema.size(); each++) {
            parts.add(Literal.create(schema.fields()[each].name(), DataTypes.StringType));
            parts.add(new GetStructField(whole, each, Option.empty()));
        }
        Expression row = new CreateNamedStruct(toSeq(parts));
        return invoked(Literal.fromObject(new Same()), "row", new ObjectType(InternalRow.class), List.of(row), true);
    }

    private static Expression written(StructType schema) {
        Expression row = new BoundReference(0, new ObjectType(InternalRow.class), true);
        List<Expression> parts = new ArrayList<>();
        for (int each = 0; each < schema.size(); each++) {
            StructField field = schema.fields()[each];
            Expression place = Literal.create(each, DataTypes.IntegerType);
            parts.add(Literal.create(field.name(), DataTypes.StringType));
            parts.add(new If(
                    invoked(row, "isNullAt", DataTypes.BooleanType, List.of(place), true),
                    Literal.create(null, field.dataType()),
                    field(row, place, field.dataType())));
        }
        return new CreateNamedStruct(toSeq(parts));
    }

    private static Expression field(Expression row, Expression place, DataType type) {
        if (type instanceof StructType struct) {
            return invoked(row, "getStruct", type, List.of(place, Literal.create(struct.size(), DataTypes.IntegerType)), true);
        }
        return invoked(row, getterOf(type), type, List.of(place), true);
    }

    private static String getterOf(DataType type) {
        if (type instanceof ArrayType) {
            return "getArray";
        }
        return switch (type.typeName()) {
            case "boolean" -> "getBoolean";
            case "integer" -> "getInt";
            case "long" -> "getLong";
            case "double" -> "getDouble";
            case "string" -> "getUTF8String";
            default -> "getBinary";
        };
    }

    private static Expression invoked(
            Expression target, String method, DataType type, List<Expression> given, boolean deterministic) {
        return new Invoke(target, method, type, toSeq(given), toSeq(List.of()), false, true, deterministic);
    }

    private static <T> scala.collection.immutable.Seq<T> toSeq(List<T> list) {
        return CollectionConverters.asScala(list).toSeq();
    }
}
