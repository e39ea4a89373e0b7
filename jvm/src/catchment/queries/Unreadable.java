package catchment.queries;

/** A record that is not what its input declares; the message says why. */
final class Unreadable extends Exception {
    private static final long serialVersionUID = 1L;

    Unreadable(String message) {
        super(message, null, false, false);
    }
}
