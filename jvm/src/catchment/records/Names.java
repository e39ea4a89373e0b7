package catchment.records;

import java.util.regex.Pattern;

/** Names that catchment/records.py gives to topics and headers. */
public final class Names {
    public static final String REASON_HEADER = "catchment-reason";
    public static final String TOPIC_HEADER = "catchment-topic";
    public static final String ORIGIN_HEADER = "catchment-origin-us";
    public static final String VERSION_HEADER = "catchment-version";

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");

    private Names() {}

    /** The topic of a kind. */
    public static String topic(String kind) {
        return "catchment.v1." + kind;
    }

    /** Whether this can be the name of a site or a sensor. */
    public static boolean isName(String text) {
        return NAME.matcher(text).matches();
    }
}
