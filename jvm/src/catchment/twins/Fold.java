package catchment.twins;

import catchment.twins.Result.What;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What changes mean: the state of an object, a change of it and the declared types give the next state and a
 * result. A change happens as a whole or not at all; what changes nothing is no new version.
 */
public final class Fold {
    private Fold() {}

    /** Applies a change to an object that has not heard of it before. */
    public static Result apply(Twin twin, Change change, Map<String, TwinType> types) {
        try {
            if (change.problem != null) {
                throw change.problem;
            }
            return twin.present ? toPresent(twin, change, types.get(twin.type)) : toAbsent(twin, change, types);
        } catch (Refused why) {
            return Result.refused(why);
        }
    }

    private static Result toAbsent(Twin twin, Change change, Map<String, TwinType> types) throws Refused {
        if (!change.action.makes()) {
            throw new Refused(Refusal.NOT_FOUND, "it is not there");
        }
        TwinType type = change.type == null ? null : types.get(change.type);
        if (type == null) {
            throw new Refused(
                    Refusal.UNKNOWN_TYPE,
                    change.type == null
                            ? "it is not there, and no type is named to make it of"
                            : "no type " + Scalars.shown(change.type) + " is declared at this site");
        }
        checkWriter(type.isWriter(change.user), change);
        if (change.ifVersion != 0) {
            throw new Refused(Refusal.VERSION_CHANGED, "it is not there, and so has no version " + change.ifVersion);
        }
        Map<String, Object> changed = changedValues(twin, change, type);
        type.checkComplete(changed);
        twin.present = true;
        twin.type = change.type;
        twin.owner = change.user;
        twin.createdMs = change.atMs;
        return applied(twin, change, What.CREATED, changed);
    }

    private static Result toPresent(Twin twin, Change change, TwinType type) throws Refused {
        checkWriter(twin.owner.equals(change.user) || (type != null && type.isWriter(change.user)), change);
        if (change.ifVersion != 0 && change.ifVersion != twin.version) {
            throw new Refused(
                    Refusal.VERSION_CHANGED, "it has version " + twin.version + " and not " + change.ifVersion);
        }
        return switch (change.action) {
            case DELETE -> deleted(twin, change);
            case MARK_DELETED -> markedDeleted(twin, change);
            default -> changed(twin, change, type);
        };
    }

    private static Result changed(Twin twin, Change change, TwinType type) throws Refused {
        boolean revived = twin.isMarkedDeleted();
        if (revived && change.action == Action.CHANGE) {
            throw new Refused(Refusal.DELETED, "it is marked as deleted: create or put makes it again");
        }
        if (!revived && change.action == Action.CREATE) {
            throw new Refused(Refusal.EXISTS, "it is there already, with version " + twin.version);
        }
        if (change.type != null && !change.type.equals(twin.type)) {
            throw new Refused(Refusal.TYPE_DIFFERS, "it is of type " + twin.type + " and not " + change.type);
        }
        if (type == null) {
            throw new Refused(Refusal.UNKNOWN_TYPE, "its type " + twin.type + " is not declared any more");
        }
        Map<String, Object> changed = changedValues(twin, change, type);
        if (!revived && changed.isEmpty()) {
            return Result.UNCHANGED;
        }
        if (revived) {
            checkRevived(twin, changed, type);
            twin.unmark();
        }
        return applied(twin, change, revived ? What.CREATED : What.CHANGED, changed);
    }

    private static void checkRevived(Twin twin, Map<String, Object> changed, TwinType type) throws Refused {
        Map<String, Object> after = new LinkedHashMap<>(twin.values);
        after.putAll(changed);
        after.values().removeIf(each -> each == null);
        type.checkComplete(after);
    }

    /** What each value becomes, of those that become another. */
    private static Map<String, Object> changedValues(Twin twin, Change change, TwinType type) throws Refused {
        Map<String, Object> changed = new LinkedHashMap<>();
        for (ValueChange each : change.values) {
            Object before = twin.values.get(each.name());
            Object after = type.changed(each, before);
            if (!Scalars.same(before, after)) {
                changed.put(each.name(), after);
            }
        }
        return changed;
    }

    private static Result deleted(Twin twin, Change change) {
        Result result = applied(twin, change, What.DELETED, Map.of());
        twin.remove();
        return result;
    }

    private static Result markedDeleted(Twin twin, Change change) {
        if (twin.isMarkedDeleted()) {
            return Result.UNCHANGED;
        }
        twin.deletedMs = change.atMs;
        return applied(twin, change, What.MARKED_DELETED, Map.of());
    }

    private static Result applied(Twin twin, Change change, What what, Map<String, Object> changed) {
        changed.forEach((name, value) -> {
            if (value == null) {
                twin.values.remove(name);
            } else {
                twin.values.put(name, value);
            }
        });
        twin.version++;
        twin.updatedMs = change.atMs;
        twin.transaction = change.transaction;
        return Result.of(what, twin.type, changed);
    }

    private static void checkWriter(boolean mayWrite, Change change) throws Refused {
        if (!mayWrite) {
            throw new Refused(Refusal.NOT_PERMITTED, change.user + " may not change it");
        }
    }
}
