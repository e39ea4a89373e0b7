package catchment.twins;

import java.util.Map;

/** What became of a change, and which values it changed; one that is gone has the value null. */
public record Result(What what, String type, Map<String, Object> changed, Refusal refusal, String reason) {
    /** What happened to the object. */
    public enum What {
        CREATED("created"),
        CHANGED("changed"),
        DELETED("deleted"),
        MARKED_DELETED("marked-deleted"),
        NOTHING("");

        final String text;

        What(String text) {
            this.text = text;
        }
    }

    static final Result UNCHANGED = new Result(What.NOTHING, "", Map.of(), null, "");

    static Result of(What what, String type, Map<String, Object> changed) {
        return new Result(what, type, changed, null, "");
    }

    static Result refused(Refused why) {
        return new Result(What.NOTHING, "", Map.of(), why.refusal(), why.getMessage());
    }

    public boolean isRefused() {
        return refusal != null;
    }

    public boolean isApplied() {
        return what != What.NOTHING;
    }

    /** As it is told to senders. */
    String text() {
        return isRefused() ? "refused" : isApplied() ? "applied" : "unchanged";
    }
}
