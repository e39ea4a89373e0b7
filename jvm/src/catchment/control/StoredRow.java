package catchment.control;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import scala.jdk.javaapi.CollectionConverters;

/** A row of data in the state: one that cannot be handled yet. */
public final class StoredRow {
    private static final int NULL = -1;

    private StoredRow() {}

    /** As bytes, which {@link #fromBytes} reads. */
    static byte[] toBytes(Row row) {
        List<Row> headers = headers(row);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeUTF(row.getString(ControlledProcessor.TOPIC));
            write(out, row.getAs(ControlledProcessor.KEY));
            write(out, row.getAs(ControlledProcessor.VALUE));
            out.writeInt(headers.size());
            for (Row header : headers) {
                out.writeUTF(header.getString(0));
                write(out, header.getAs(1));
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return bytes.toByteArray();
    }

    /** The row, without its place in Kafka. */
    static Row fromBytes(byte[] stored) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(stored))) {
            String topic = in.readUTF();
            byte[] key = read(in);
            byte[] value = read(in);
            List<Row> headers = new ArrayList<>();
            for (int left = in.readInt(); left > 0; left--) {
                headers.add(KafkaRows.header(in.readUTF(), read(in)));
            }
            return RowFactory.create(
                    0, false, topic, 0, 0L, key, value, CollectionConverters.asScala(headers).toSeq());
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** A row's headers; none if it has none. */
    public static List<Row> headers(Row row) {
        return row.isNullAt(ControlledProcessor.HEADERS) ? List.of() : row.getList(ControlledProcessor.HEADERS);
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
