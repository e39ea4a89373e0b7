package catchment.measurements;

/** Why a record cannot become a measurement. Ordinary life, and so without the cost of a stack trace. */
public final class Unmappable extends Exception {
    private static final long serialVersionUID = 1L;

    public Unmappable(String why) {
        super(why, null, false, false);
    }

    /** The same, with the place where it was found in front. */
    Unmappable in(String where) {
        return new Unmappable(where + ": " + getMessage());
    }
}
