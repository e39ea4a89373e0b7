package catchment.control;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/** A row of data in the state: one that cannot be handled yet. */
final class StoredRow {
    private static final int NULL = -1;

    private StoredRow() {}

    /** As bytes, which {@link #fromBytes} reads. */
    static byte[] toBytes(InternalRow row) {
        ArrayData headers = KafkaRows.headers(row, ControlledProcessor.HEADERS);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeUTF(row.getUTF8String(ControlledProcessor.TOPIC).toString());
            write(out, KafkaRows.bytes(row, ControlledProcessor.KEY));
            write(out, KafkaRows.bytes(row, ControlledProcessor.VALUE));
            out.writeInt(headers.numElements());
            for (int each = 0; each < headers.numElements(); each++) {
                InternalRow header = headers.getStruct(each, KafkaRows.HEADER_PARTS);
                out.writeUTF(header.getUTF8String(0).toString());
                write(out, KafkaRows.bytes(header, 1));
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return bytes.toByteArray();
    }

    /** The row, without its place in Kafka. */
    static InternalRow fromBytes(byte[] stored) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(stored))) {
            UTF8String topic = UTF8String.fromString(in.readUTF());
            byte[] key = read(in);
            byte[] value = read(in);
            InternalRow[] headers = new InternalRow[in.readInt()];
            for (int each = 0; each < headers.length; each++) {
                headers[each] = KafkaRows.header(UTF8String.fromString(in.readUTF()), read(in));
            }
            return new GenericInternalRow(
                    new Object[] {0, false, topic, 0, 0L, key, value, KafkaRows.headers(headers)});
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private static void write(DataOutputStream out, byte[] bytes) throws IOException {
        out.writeInt(bytes == null ? NULL : bytes.length);
        if (bytes != null) {
            out.write(bytes);
        }
    }

    private static byte[] read(DataInputStream in) throws IOException {
        int length = in.readInt();
        return length == NULL ? null : in.readNBytes(length);
    }
}
