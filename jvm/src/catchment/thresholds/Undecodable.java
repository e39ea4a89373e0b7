package catchment.thresholds;

/** A measurement that cannot be read, with the reason. */
public final class Undecodable extends Exception {
    private static final long serialVersionUID = 1L;

    public Undecodable(String reason) {
        super(reason);
    }
}
