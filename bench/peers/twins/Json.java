package twins;

import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;

/** JSON of the benchmark's messages, states and settings. */
final class Json {
    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .defaultPropertyInclusion(
                    com.fasterxml.jackson.annotation.JsonInclude.Value.construct(Include.NON_NULL, Include.ALWAYS))
            .visibility(PropertyAccessor.FIELD, Visibility.PUBLIC_ONLY)
            .build();

    private Json() {}

    static <T> T read(byte[] json, Class<T> kind) {
        try {
            return MAPPER.readValue(json, kind);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    static Settings settings(String file) throws IOException {
        return MAPPER.readValue(new File(file), Settings.class);
    }

    static byte[] write(Object value) {
        try {
            return MAPPER.writeValueAsBytes(value);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
