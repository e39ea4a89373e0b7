package catchment.twins;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Patterns over names, in which {@code *} stands for any characters and {@code ?} for one. */
final class Globs {
    private Globs() {}

    static Pattern one(String glob) {
        // Names have no characters that a pattern gives a meaning to, except for the dot.
        return Pattern.compile(glob.replace(".", "\\.").replace("*", ".*").replace("?", "."));
    }

    static List<Pattern> all(JsonNode globs) {
        List<Pattern> patterns = new ArrayList<>();
        globs.forEach(each -> patterns.add(one(each.asText())));
        return patterns;
    }
}
