package twins;

/** What the sender is told of a change that was not made. */
final class Refusal {
    public final String transaction;
    public final String user;
    public final String site;
    public final String id;
    public final String result = "refused";
    public final String refusal;
    public final String reason;
    public final long atMs;

    private Refusal(Change change, Refused refused) {
        transaction = change.transaction;
        user = change.user;
        site = change.site;
        id = change.id;
        refusal = refused.refusal;
        reason = refused.getMessage();
        atMs = change.atMs;
    }

    static Refusal of(Change change, Refused refused) {
        return new Refusal(change, refused);
    }
}
