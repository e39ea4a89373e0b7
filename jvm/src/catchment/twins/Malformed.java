package catchment.twins;

/** Why a message cannot be split; with what is known of it, so that its sender can be told. */
final class Malformed extends Exception {
    private static final long serialVersionUID = 1L;

    final String transaction;
    final String user;

    Malformed(String reason, String transaction, String user) {
        super(reason, null, false, false);
        this.transaction = transaction;
        this.user = user;
    }
}
