package catchment.store;

/** A row that no table can take, and why: it goes to the dead letters. */
public final class Unstorable extends Exception {
    private static final long serialVersionUID = 1L;

    public Unstorable(String reason) {
        super(reason);
    }
}
