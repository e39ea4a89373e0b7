package catchment.queries;

import catchment.control.SparkRows;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.io.SerializedString;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** Writes rows as JSON, as Spark's own `to_json` does, with times in UTC; several times as fast. */
public final class JsonRow implements Serializable {
    private static final long serialVersionUID = 1L;
    private static final JsonFactory FACTORY = new JsonFactory();
    private static final DateTimeFormatter SECONDS = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.");
    private static final int SECOND_US = 1_000_000;
    private static final int KNOWN_SECONDS = 64;

    private final StructType schema;
    private transient SerializedString[] names;
    private transient ColumnKind[] kinds;
    private transient boolean[] areArrays;
    private transient ByteArrayOutputStream bytes;
    /** One for all rows: to make one costs as much as a small row. */
    private transient JsonGenerator json;

    /** Times of rows that come together are mostly of the same few seconds. */
    private transient long[] seconds;

    private transient StringBuilder[] times;

    private JsonRow(StructType schema) {
        this.schema = schema;
    }

    /** A struct as JSON; called from Python. */
    public static Column of(Column struct, String columns) {
        return SparkRows.call(new JsonRow(StructType.fromDDL(columns)), "write", DataTypes.BinaryType, struct);
    }

    /** Called from Spark's plans. */
    public byte[] write(InternalRow row) {
        if (names == null) {
            begin();
        }
        bytes.reset();
        try {
            writeObject(row);
            json.flush();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return bytes.toByteArray();
    }

    private void writeObject(InternalRow row) throws IOException {
        json.writeStartObject();
        for (int each = 0; each < names.length; each++) {
            json.writeFieldName(names[each]);
            if (areArrays[each] && !row.isNullAt(each)) {
                writeArray(row.getArray(each), kinds[each]);
            } else {
                write(row, each, kinds[each]);
            }
        }
        json.writeEndObject();
    }

    private void begin() {
        StructField[] fields = schema.fields();
        names = new SerializedString[fields.length];
        kinds = new ColumnKind[fields.length];
        areArrays = new boolean[fields.length];
        for (int each = 0; each < fields.length; each++) {
            names[each] = new SerializedString(fields[each].name());
            String type = fields[each].dataType().simpleString();
            kinds[each] = ColumnKind.of(type);
            areArrays[each] = ColumnKind.isArray(type);
        }
        bytes = new ByteArrayOutputStream();
        try {
            json = FACTORY.createGenerator(bytes).setRootValueSeparator(null);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        seconds = new long[KNOWN_SECONDS];
        times = new StringBuilder[KNOWN_SECONDS];
    }

    private void write(SpecializedGetters values, int place, ColumnKind kind) throws IOException {
        if (values.isNullAt(place)) {
            json.writeNull();
            return;
        }
        switch (kind) {
            case BOOLEAN -> json.writeBoolean(values.getBoolean(place));
            case INT -> json.writeNumber(values.getInt(place));
            case BIGINT -> json.writeNumber(values.getLong(place));
            case DOUBLE -> json.writeNumber(values.getDouble(place));
            case STRING -> {
                byte[] text = values.getUTF8String(place).makeValid().getBytes();
                json.writeUTF8String(text, 0, text.length);
            }
            case TIMESTAMP -> json.writeString(timeOf(values.getLong(place)));
            default -> json.writeBinary(values.getBinary(place));
        }
    }

    private void writeArray(ArrayData array, ColumnKind kind) throws IOException {
        json.writeStartArray();
        for (int each = 0; each < array.numElements(); each++) {
            write(array, each, kind);
        }
        json.writeEndArray();
    }

    private String timeOf(long us) {
        long second = Math.floorDiv(us, (long) SECOND_US);
        int place = (int) Math.floorMod(second, (long) KNOWN_SECONDS);
        StringBuilder time = times[place];
        if (time == null || seconds[place] != second) {
            time = new StringBuilder(LocalDateTime.ofEpochSecond(second, 0, ZoneOffset.UTC).format(SECONDS));
            time.append("000000Z");
            times[place] = time;
            seconds[place] = second;
        }
        int rest = (int) Math.floorMod(us, (long) SECOND_US);
        for (int digit = 0; digit < 6; digit++) {
            time.setCharAt(time.length() - 2 - digit, (char) ('0' + rest % 10));
            rest /= 10;
        }
        return time.toString();
    }
}
