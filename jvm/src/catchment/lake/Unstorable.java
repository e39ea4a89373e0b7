package catchment.lake;

/** A record that no row can be made of; the message says why. */
final class Unstorable extends Exception {
    private static final long serialVersionUID = 1L;

    Unstorable(String reason) {
        super(reason, null, false, false);
    }
}
