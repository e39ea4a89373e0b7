package catchment.twins;

/** Something about an object that people are told once: the sender asked for it, or sent what is refused. */
public record Notice(long sequence, boolean asked, String text, Change change) {
    /** What a change gives rise to; null if it is nothing. Numbers rise by one for each object. */
    static Notice of(Twin twin, Change change, Result result) {
        if (!result.isRefused()) {
            twin.lastInvalid = false;
            return change.notify == null ? null : new Notice(++twin.notices, true, change.notify, change);
        }
        boolean isInvalid = result.refusal() == Refusal.INVALID_VALUE && !change.isFromApi();
        // A device that goes on sending what is wrong is news only once.
        if (!isInvalid || twin.lastInvalid) {
            return null;
        }
        twin.lastInvalid = true;
        return new Notice(++twin.notices, false, result.reason(), change);
    }
}
