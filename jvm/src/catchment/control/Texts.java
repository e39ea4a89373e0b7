package catchment.control;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.unsafe.types.UTF8String;

/** Names that rows bring again and again, as Java has them; with a limit to what a stranger makes of them. */
public final class Texts {
    private static final int MOST = 1 << 10;

    private final Map<UTF8String, String> known = new HashMap<>();

    public String of(UTF8String text) {
        String found = known.get(text);
        if (found == null) {
            found = text.toString();
            if (known.size() < MOST) {
                known.put(UTF8String.fromString(found), found);
            }
        }
        return found;
    }
}
