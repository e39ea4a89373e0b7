package catchment.pipeline;

import catchment.control.KafkaRows;
import catchment.control.Texts;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.spark.sql.ForeachWriter;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.kafka010.producer.CachedKafkaProducer;
import org.apache.spark.sql.kafka010.producer.InternalKafkaProducerPool$;

/**
 * The end of a query at Kafka. Rows are handed to a thread of its own ({@link Sending}), so that a query can work on
 * the next while these are packed.
 *
 * <p>Opened and closed once a partition and checkpoint interval; to close waits until Kafka has all, so that a
 * checkpoint never claims more. Input: {@link KafkaRows}.
 */
public class ToKafka extends ForeachWriter<InternalRow> {
    private static final long serialVersionUID = 1L;
    private static final int TOPIC = 0;
    private static final int KEY = 1;
    private static final int VALUE = 2;
    private static final int HEADERS = 3;

    private final HashMap<String, Object> settings;
    private transient Texts texts;
    private transient CachedKafkaProducer producer;
    private transient Sending sending;

    /** Called from Python, with the settings of a producer. */
    public ToKafka(Map<String, String> producer) {
        this.settings = new HashMap<>(producer);
        settings.put("key.serializer", ByteArraySerializer.class.getName());
        settings.put("value.serializer", ByteArraySerializer.class.getName());
    }

    @Override
    public boolean open(long partitionId, long epochId) {
        // Spark's own, which stay from one interval to the next and are closed when nobody needs them.
        producer = InternalKafkaProducerPool$.MODULE$.acquire(settings);
        sending = new Sending(producer.producer());
        texts = new Texts();
        return true;
    }

    @Override
    public void process(InternalRow row) {
        take(texts.of(row.getUTF8String(TOPIC)), KafkaRows.bytes(row, KEY), KafkaRows.bytes(row, VALUE), row);
    }

    /** Writes a row of which some columns have been read. */
    protected void take(String topic, byte[] key, byte[] value, InternalRow row) {
        write(topic, key, value, headersOf(row));
    }

    protected final void write(String topic, byte[] key, byte[] value, RecordHeaders headers) {
        sending.add(new ProducerRecord<>(topic, null, key, value, headers));
    }

    protected final RecordHeaders headersOf(InternalRow row) {
        RecordHeaders headers = new RecordHeaders();
        KafkaRows.forEach(KafkaRows.headers(row, HEADERS), (name, value) -> headers.add(texts.of(name), value));
        return headers;
    }

    @Override
    public void close(Throwable error) {
        if (producer == null) {
            return;
        }
        try {
            if (error == null) {
                beforeEnd();
                sending.finish();
            } else {
                sending.abandon();
            }
        } finally {
            InternalKafkaProducerPool$.MODULE$.release(producer);
            producer = null;
        }
    }

    /** Called before the last rows go to Kafka. */
    protected void beforeEnd() {}
}
