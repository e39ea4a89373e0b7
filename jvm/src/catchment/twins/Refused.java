package catchment.twins;

/** A change that is not applied. Ordinary life, and so without the cost of a stack trace. */
public final class Refused extends Exception {
    private static final long serialVersionUID = 1L;

    private final Refusal refusal;

    public Refused(Refusal refusal, String reason) {
        super(reason, null, false, false);
        this.refusal = refusal;
    }

    public Refusal refusal() {
        return refusal;
    }

    static Refused malformed(String reason) {
        return new Refused(Refusal.MALFORMED, reason);
    }
}
