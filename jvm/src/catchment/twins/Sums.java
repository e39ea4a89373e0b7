package catchment.twins;

/** Sums of values: of whole numbers exact, and refused rather than wrong. */
final class Sums {
    private Sums() {}

    /** The sum, whole as long as both are; a value that is absent counts as 0. */
    static Object of(String name, Object before, Object addend) throws Refused {
        if (before == null) {
            return addend;
        }
        if (!(before instanceof Number number)) {
            throw ValueSpec.invalid(name, addend, "cannot be added to " + Scalars.shown(before));
        }
        return before instanceof Long whole && addend instanceof Long more
                ? ofWhole(name, whole, more)
                : ofReal(name, number.doubleValue(), ((Number) addend).doubleValue());
    }

    private static Object ofWhole(String name, long before, long addend) throws Refused {
        long sum = before + addend;
        if (((before ^ sum) & (addend ^ sum)) < 0) {
            throw ValueSpec.invalid(name, addend, "cannot be added to " + before + ": the sum is beyond 64 bits");
        }
        return sum;
    }

    private static Object ofReal(String name, double before, double addend) throws Refused {
        double sum = before + addend;
        if (!Double.isFinite(sum)) {
            throw ValueSpec.invalid(name, addend, "cannot be added to " + before + ": the sum is too great");
        }
        return sum;
    }
}
