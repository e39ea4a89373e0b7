package catchment.twins;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** What objects of a type are like, and who may change them. */
public final class TwinType {
    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,199}");
    private static final int REMEMBERED = 10_000;

    private final Map<String, ValueSpec> values = new LinkedHashMap<>();
    private final boolean open;
    private final List<Pattern> writers;
    private final Map<String, Boolean> permitted = new HashMap<>();

    public TwinType(JsonNode declared) {
        declared.path("values").properties().forEach(each -> values.put(each.getKey(), new ValueSpec(each.getValue())));
        open = declared.path("open").asBoolean();
        writers = Globs.all(declared.path("writers"));
    }

    /** Whether a sender may make and change its objects. */
    boolean isWriter(String user) {
        if (permitted.size() > REMEMBERED) {
            permitted.clear();
        }
        return permitted.computeIfAbsent(
                user, each -> writers.stream().anyMatch(glob -> glob.matcher(each).matches()));
    }

    /** What a value becomes by a change; null if it is not there afterwards. */
    Object changed(ValueChange change, Object before) throws Refused {
        ValueSpec spec = values.get(change.name());
        if (spec == null) {
            return changedFreely(change, before);
        }
        return switch (change.kind()) {
            case SET -> spec.checked(change.name(), change.operand());
            case ADD -> spec.checked(change.name(), spec.sum(change.name(), before, change.operand()));
            case UNSET -> {
                if (spec.required) {
                    throw new Refused(Refusal.MISSING_VALUE, change.name() + " is required and cannot be unset");
                }
                yield null;
            }
        };
    }

    private Object changedFreely(ValueChange change, Object before) throws Refused {
        if (!open) {
            throw new Refused(Refusal.UNKNOWN_VALUE, "its type has no value " + Scalars.shown(change.name()));
        }
        if (!NAME.matcher(change.name()).matches()) {
            throw new Refused(Refusal.UNKNOWN_VALUE, Scalars.shown(change.name()) + " cannot be the name of a value");
        }
        Object after = switch (change.kind()) {
            case SET -> change.operand();
            case ADD -> Sums.of(change.name(), before, change.operand());
            case UNSET -> null;
        };
        if (after instanceof Double number && !Double.isFinite(number)) {
            throw ValueSpec.invalid(change.name(), after, "is too great");
        }
        return after;
    }

    /** Refuses an object that is made without a value that it must have. */
    void checkComplete(Map<String, Object> present) throws Refused {
        for (Map.Entry<String, ValueSpec> each : values.entrySet()) {
            if (each.getValue().required && !present.containsKey(each.getKey())) {
                throw new Refused(Refusal.MISSING_VALUE, each.getKey() + " is required");
            }
        }
    }
}
