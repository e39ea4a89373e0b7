package twins;

/** Why a change is not made. */
final class Refused extends Exception {
    private static final long serialVersionUID = 1L;

    final String refusal;

    Refused(String refusal, String reason) {
        super(reason, null, false, false);
        this.refusal = refusal;
    }
}
