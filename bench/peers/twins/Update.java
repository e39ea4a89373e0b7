package twins;

import java.util.Map;

/** A real change of an object, as it stands on the history. */
final class Update {
    public final String site;
    public final String id;
    public final String type;
    public final long version;
    public final String what;
    public final long atMs;
    public final String transaction;
    public final String user;
    public final Map<String, Object> values;

    Update(Twin twin, Change change, Map<String, Object> changed) {
        site = twin.site;
        id = twin.id;
        type = twin.type;
        version = twin.version;
        what = version == 1 ? "created" : "changed";
        atMs = change.atMs;
        transaction = change.transaction;
        user = change.user;
        values = changed;
    }
}
