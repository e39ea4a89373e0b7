package catchment.store;

import java.util.EnumSet;
import java.util.Set;
import org.apache.avro.LogicalType;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;

/** What a column of a table can hold, and which type of Avro goes into which. */
public enum ColumnType {
    BOOLEAN("boolean"),
    INTEGER("integer"),
    BIGINT("bigint"),
    REAL("real"),
    DOUBLE("double precision"),
    TEXT("text"),
    BYTES("bytea"),
    TIME("timestamp with time zone"),
    JSON("jsonb");

    private static final Set<ColumnType> NUMBERS = EnumSet.of(INTEGER, BIGINT, REAL, DOUBLE);

    private final String sql;

    ColumnType(String sql) {
        this.sql = sql;
    }

    /** The type's name in PostgreSQL, as its catalogue gives it too. */
    public String sql() {
        return sql;
    }

    /** The type with this name in PostgreSQL, or null if it is none of ours. */
    public static ColumnType fromSql(String name) {
        for (ColumnType type : values()) {
            if (type.sql.equals(name)) {
                return type;
            }
        }
        return null;
    }

    /** The type of a field's column; what has no column of its own kind is kept as JSON. */
    public static ColumnType of(Schema declared) {
        Schema schema = withoutNull(declared);
        LogicalType logical = schema.getLogicalType();
        if (logical instanceof LogicalTypes.TimestampMillis || logical instanceof LogicalTypes.TimestampMicros) {
            return TIME;
        }
        return switch (schema.getType()) {
            case BOOLEAN -> BOOLEAN;
            case INT -> INTEGER;
            case LONG -> BIGINT;
            case FLOAT -> REAL;
            case DOUBLE -> DOUBLE;
            case STRING, ENUM -> TEXT;
            case BYTES, FIXED -> BYTES;
            default -> JSON;
        };
    }

    /** The only type of a union with null, else the type itself. */
    public static Schema withoutNull(Schema schema) {
        if (!schema.isUnion()) {
            return schema;
        }
        var others = schema.getTypes().stream().filter(each -> each.getType() != Schema.Type.NULL).toList();
        return others.size() == 1 ? others.get(0) : schema;
    }

    /** The type that holds values of both without loss of kind, or null if there is none. */
    public ColumnType joined(ColumnType other) {
        if (this == other) {
            return this;
        }
        if (!NUMBERS.contains(this) || !NUMBERS.contains(other)) {
            return null;
        }
        return EnumSet.of(this, other).equals(EnumSet.of(INTEGER, BIGINT)) ? BIGINT : DOUBLE;
    }
}
