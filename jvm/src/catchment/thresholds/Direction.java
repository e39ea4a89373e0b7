package catchment.thresholds;

/** On which side of its threshold a rule sees a transgression. */
public enum Direction {
    ABOVE,
    BELOW
}
