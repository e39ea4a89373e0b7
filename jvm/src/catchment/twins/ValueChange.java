package catchment.twins;

/** What happens to one value of an object; one that is unset has no operand. */
public record ValueChange(String name, Kind kind, Object operand) {
    /** What can be done to a value. */
    public enum Kind {
        SET,
        ADD,
        UNSET
    }
}
