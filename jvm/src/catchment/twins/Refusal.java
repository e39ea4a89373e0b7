package catchment.twins;

import java.util.Locale;

/** Why a change is refused; catchment/twins/model.py has the same. */
public enum Refusal {
    MALFORMED,
    NOT_PERMITTED,
    NOT_FOUND,
    EXISTS,
    DELETED,
    UNKNOWN_TYPE,
    TYPE_DIFFERS,
    UNKNOWN_VALUE,
    INVALID_VALUE,
    MISSING_VALUE,
    VERSION_CHANGED;

    /** As it is told to senders. */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
