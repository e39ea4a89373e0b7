package queries;

import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;

/** JSON of the benchmark's records, results and settings. */
final class Json {
    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .visibility(PropertyAccessor.FIELD, Visibility.PUBLIC_ONLY)
            .build();

    private Json() {}

    static Settings settings(String file) throws IOException {
        return MAPPER.readValue(new File(file), Settings.class);
    }

    static <T> Serde<T> serde(Class<T> kind) {
        return Serdes.serdeFrom(
                (topic, value) -> value == null ? null : write(value), (topic, json) -> json == null ? null : read(json, kind));
    }

    private static <T> T read(byte[] json, Class<T> kind) {
        try {
            return MAPPER.readValue(json, kind);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private static byte[] write(Object value) {
        try {
            return MAPPER.writeValueAsBytes(value);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
