package catchment.queries;

/**
 * A function of an aggregate, by its name.
 *
 * @param column the place of its argument; -1 if it has none
 */
record Function(String name, int column, boolean whole) {
    /** Of a window of rows that are never withdrawn, or may be. */
    Accumulator start(boolean appendOnly) {
        return switch (name) {
            case "count" -> new Counting();
            case "sum", "avg" -> whole ? new WholeSum(name.equals("avg")) : new RealSum(name.equals("avg"));
            case "min" -> extreme(false, false, appendOnly);
            case "max" -> extreme(true, false, appendOnly);
            case "first" -> extreme(false, true, appendOnly);
            case "last" -> extreme(true, true, appendOnly);
            case "count_distinct" -> Multiset.distinct();
            default -> throw new IllegalArgumentException("there is no function " + name);
        };
    }

    private static Accumulator extreme(boolean last, boolean byTime, boolean appendOnly) {
        return appendOnly ? new Extreme(last, byTime) : Multiset.extreme(last, byTime);
    }
}
