package catchment.records;

/** Names that catchment/records.py gives to topics and headers. */
public final class Names {
    public static final String REASON_HEADER = "catchment-reason";
    public static final String TOPIC_HEADER = "catchment-topic";
    public static final String ORIGIN_HEADER = "catchment-origin-us";
    public static final String VERSION_HEADER = "catchment-version";

    private static final int LONGEST = 64;

    private Names() {}

    /** The topic of a kind. */
    public static String topic(String kind) {
        return "catchment.v1." + kind;
    }

    /** Whether this can be the name of a site, a sensor or an object. */
    public static boolean isName(String text) {
        if (text.isEmpty() || text.length() > LONGEST || !isLetterOrDigit(text.charAt(0))) {
            return false;
        }
        for (int place = 1; place < text.length(); place++) {
            char each = text.charAt(place);
            if (!isLetterOrDigit(each) && each != '.' && each != '_' && each != '-') {
                return false;
            }
        }
        return true;
    }

    private static boolean isLetterOrDigit(char each) {
        return each >= 'a' && each <= 'z' || each >= 'A' && each <= 'Z' || each >= '0' && each <= '9';
    }
}
