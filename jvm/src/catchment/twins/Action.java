package catchment.twins;

/** What is done to an object. */
public enum Action {
    CREATE("create"),
    CHANGE("change"),
    PUT("put"),
    DELETE("delete"),
    MARK_DELETED("mark-deleted");

    final String text;

    Action(String text) {
        this.text = text;
    }

    /** Whether an object that is not there is made. */
    boolean makes() {
        return this == CREATE || this == PUT;
    }

    /** Whether it goes, for good or with a mark. */
    boolean removes() {
        return this == DELETE || this == MARK_DELETED;
    }

    static Action of(String text) throws Refused {
        return switch (text) {
            case "create" -> CREATE;
            case "change" -> CHANGE;
            case "put" -> PUT;
            case "delete" -> DELETE;
            case "mark-deleted" -> MARK_DELETED;
            default -> throw Refused.malformed(
                    Scalars.shown(text) + " is no action: use create, change, put, delete or mark-deleted");
        };
    }
}
