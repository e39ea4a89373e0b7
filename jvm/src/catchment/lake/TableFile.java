package catchment.lake;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.api.WriteSupport;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.io.api.RecordConsumer;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeUnit;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Type;
import org.apache.parquet.schema.Types;

/** One Parquet file of a table, being written. */
final class TableFile {
    private static final long ROW_GROUP_BYTES = 16L << 20;

    private final Path path;
    private final ParquetWriter<Object[]> writer;
    private long rows;
    private long firstMs = Long.MAX_VALUE;
    private long lastMs = Long.MIN_VALUE;

    TableFile(Path path, List<Layout.Column> columns) throws IOException {
        this.path = path;
        Files.createDirectories(path.getParent());
        writer = new Builder(path, columns).build();
    }

    void write(Rows.Dated row) throws IOException {
        writer.write(row.values());
        rows++;
        firstMs = Math.min(firstMs, row.timeMs());
        lastMs = Math.max(lastMs, row.timeMs());
    }

    /** Closes the file and says what is in it. */
    void close(ObjectNode report) throws IOException {
        writer.close();
        report.put("path", path.toString())
                .put("bytes", Files.size(path))
                .put("rows", rows)
                .put("first_us", firstMs * 1000)
                .put("last_us", lastMs * 1000);
    }

    private static final class Builder extends ParquetWriter.Builder<Object[], Builder> {
        private final List<Layout.Column> columns;

        Builder(Path path, List<Layout.Column> columns) {
            super(new LocalOutputFile(path));
            this.columns = columns;
            withCompressionCodec(CompressionCodecName.ZSTD);
            withRowGroupSize(ROW_GROUP_BYTES);
        }

        @Override
        protected Builder self() {
            return this;
        }

        @Override
        @SuppressWarnings("deprecation") // Abstract all the same.
        protected WriteSupport<Object[]> getWriteSupport(Configuration configuration) {
            return new Values(columns);
        }
    }

    private static final class Values extends WriteSupport<Object[]> {
        private final List<Layout.Column> columns;
        private RecordConsumer consumer;

        Values(List<Layout.Column> columns) {
            this.columns = columns;
        }

        @Override
        @SuppressWarnings("deprecation") // Abstract all the same.
        public WriteContext init(Configuration configuration) {
            List<Type> types = columns.stream().map(Values::typeOf).toList();
            return new WriteContext(new MessageType("row", types), new HashMap<>());
        }

        @Override
        public void prepareForWrite(RecordConsumer recordConsumer) {
            consumer = recordConsumer;
        }

        @Override
        public void write(Object[] values) {
            consumer.startMessage();
            for (int index = 0; index < values.length; index++) {
                if (values[index] != null) {
                    String name = columns.get(index).name();
                    consumer.startField(name, index);
                    add(columns.get(index).type(), values[index]);
                    consumer.endField(name, index);
                }
            }
            consumer.endMessage();
        }

        private void add(Layout.Type type, Object value) {
            switch (type) {
                case BOOLEAN -> consumer.addBoolean((Boolean) value);
                case LONG, TIMESTAMP -> consumer.addLong((Long) value);
                case DATE -> consumer.addInteger(((Long) value).intValue());
                case DOUBLE -> consumer.addDouble((Double) value);
                case STRING, BINARY -> consumer.addBinary((Binary) value);
            }
        }

        private static Type typeOf(Layout.Column column) {
            LogicalTypeAnnotation logical = switch (column.type()) {
                case STRING -> LogicalTypeAnnotation.stringType();
                case TIMESTAMP -> LogicalTypeAnnotation.timestampType(true, TimeUnit.MICROS);
                case DATE -> LogicalTypeAnnotation.dateType();
                default -> null;
            };
            PrimitiveTypeName primitive = switch (column.type()) {
                case BOOLEAN -> PrimitiveTypeName.BOOLEAN;
                case LONG, TIMESTAMP -> PrimitiveTypeName.INT64;
                case DATE -> PrimitiveTypeName.INT32;
                case DOUBLE -> PrimitiveTypeName.DOUBLE;
                case STRING, BINARY -> PrimitiveTypeName.BINARY;
            };
            return Types.optional(primitive).as(logical).named(column.name());
        }
    }
}
