package twins;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;

/** Where a message came from: version u8 | sequence u64 | origin_us i64 | site/gateway/epoch/stream. */
record Stamp(String source, long epoch, long sequence, long originUs) {
    private static final String HEADER = "catchment-stamp";

    static Stamp of(Headers headers) {
        Header header = headers.lastHeader(HEADER);
        ByteBuffer bytes = ByteBuffer.wrap(header.value());
        bytes.get();
        long sequence = bytes.getLong();
        long originUs = bytes.getLong();
        int from = bytes.position();
        String identity = new String(header.value(), from, header.value().length - from, StandardCharsets.UTF_8);
        int gateway = identity.indexOf('/') + 1;
        int epoch = identity.indexOf('/', gateway) + 1;
        int stream = identity.indexOf('/', epoch) + 1;
        String source = identity.substring(0, epoch) + identity.substring(stream);
        return new Stamp(source, Long.parseLong(identity, epoch, stream - 1, 10), sequence, originUs);
    }
}
