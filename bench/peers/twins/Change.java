package twins;

import java.util.Map;

/** One change of one object, as it stands on the topic of changes. Names are those of the JSON. */
final class Change {
    public String site;
    public String id;
    public String transaction;
    public String user;
    public long atMs;
    public boolean confirm;
    public Wanted change;

    /** What is wanted of the object. */
    static final class Wanted {
        public String action = "change";
        public String type;
        public Map<String, ValueChange> values = Map.of();
        public Long ifVersion;
        public String notify;
    }

    /** What happens to one value: one of these. */
    static final class ValueChange {
        public Object set;
        public Number add;
        public Boolean unset;
    }
}
