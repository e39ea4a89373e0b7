package catchment.store;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;

/** What a store is told by catchment/pipeline/store.py. {@code kinds} says what each topic holds. */
public record StoreSettings(
        String name,
        String url,
        @JsonProperty("connection") Map<String, String> connection,
        String schema,
        @JsonProperty("flush_ms") long flushMs,
        @JsonProperty("batch_rows") int batchRows,
        @JsonProperty("queue_rows") int queueRows,
        @JsonProperty("retry_max_s") double retryMaxS,
        Map<String, String> kafka,
        @JsonProperty("schemas_topic") String schemasTopic,
        @JsonProperty("dead_letter_topic") String deadLetterTopic,
        @JsonProperty("reason_header") String reasonHeader,
        @JsonProperty("topic_header") String topicHeader,
        @JsonProperty("stamp_header") String stampHeader,
        Map<String, String> kinds) {

    public static StoreSettings fromJson(String json) {
        try {
            return new ObjectMapper().readValue(json, StoreSettings.class);
        } catch (JsonProcessingException error) {
            // The text has a password in it, and Jackson quotes what it cannot read.
            throw new IllegalArgumentException("the settings of a store cannot be read");
        }
    }

    /** Passwords must not come into a log this way. */
    @Override
    public String toString() {
        return "store " + name;
    }
}
