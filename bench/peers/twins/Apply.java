package twins;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What changes make of objects, by the rules of Catchment's own operator as far as the benchmark goes: put and
 * change, with set, add and unset; permission, validation, versions, and repetitions known by their stamps.
 */
final class Apply {
    private final Map<String, TwinType> types;

    Apply(Map<String, TwinType> types) {
        this.types = types;
    }

    /** Changes the twin, which is null if there is none yet; null again if nothing comes of it. */
    Applied apply(Twin before, Change change, Stamp stamp) throws Refused {
        if (before != null && before.hasSeen(stamp)) {
            return null;
        }
        Twin twin = before != null ? before : made(change);
        TwinType type = typeOf(twin.type);
        if (!change.user.equals(twin.owner) && !type.allows(change.user)
                || before == null && !type.allows(change.user)) {
            throw new Refused("not-permitted", change.user + " may not change " + twin.type);
        }
        if (change.change.ifVersion != null && change.change.ifVersion != twin.version) {
            throw new Refused("version-changed", "it has version " + twin.version);
        }
        Map<String, Object> changed = changes(twin, type, change.change.values);
        if (changed.isEmpty() && before != null) {
            return null;
        }
        return new Applied(twin, commit(twin, change, stamp, changed));
    }

    private Twin made(Change change) throws Refused {
        if (!change.change.action.equals("put")) {
            throw new Refused("not-found", "there is no " + change.id);
        }
        return Twin.of(change);
    }

    private TwinType typeOf(String name) throws Refused {
        TwinType type = types.get(name);
        if (type == null) {
            throw new Refused("unknown-type", "there is no type " + name);
        }
        return type;
    }

    private static Map<String, Object> changes(Twin twin, TwinType type, Map<String, Change.ValueChange> wanted)
            throws Refused {
        Map<String, Object> changed = new LinkedHashMap<>();
        for (Map.Entry<String, Change.ValueChange> each : wanted.entrySet()) {
            String name = each.getKey();
            TwinType.ValueSpec spec = type.values.get(name);
            if (spec == null && !type.open) {
                throw new Refused("unknown-value", twin.type + " has no " + name);
            }
            Object before = twin.values.get(name);
            Object after = after(name, before, each.getValue(), spec);
            if (!TwinType.same(before, after)) {
                changed.put(name, after);
            }
        }
        for (Map.Entry<String, TwinType.ValueSpec> each : type.values.entrySet()) {
            if (each.getValue().required && isMissing(each.getKey(), twin, changed)) {
                throw new Refused("missing-value", each.getKey() + " is required");
            }
        }
        return changed;
    }

    private static Object after(String name, Object before, Change.ValueChange wanted, TwinType.ValueSpec spec)
            throws Refused {
        if (Boolean.TRUE.equals(wanted.unset)) {
            return null;
        }
        Object after = wanted.add != null ? sum(name, before, wanted.add) : wanted.set;
        return spec == null ? after : spec.check(name, after);
    }

    private static Object sum(String name, Object before, Number add) throws Refused {
        if (before != null && !(before instanceof Number)) {
            throw new Refused("invalid-value", name + " is no number");
        }
        Number start = before == null ? 0 : (Number) before;
        if (isWhole(start) && isWhole(add)) {
            try {
                return Math.addExact(start.longValue(), add.longValue());
            } catch (ArithmeticException error) {
                throw new Refused("invalid-value", name + " would be too large");
            }
        }
        return start.doubleValue() + add.doubleValue();
    }

    private static boolean isWhole(Number number) {
        return number instanceof Long || number instanceof Integer;
    }

    private static boolean isMissing(String name, Twin twin, Map<String, Object> changed) {
        return (changed.containsKey(name) ? changed.get(name) : twin.values.get(name)) == null;
    }

    private static Update commit(Twin twin, Change change, Stamp stamp, Map<String, Object> changed) {
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
        twin.seen.put(stamp.source(), new long[] {stamp.epoch(), stamp.sequence()});
        return new Update(twin, change, changed);
    }

    /** The new state, and what changed. */
    record Applied(Twin twin, Update update) {}
}
