package catchment.thresholds;

/** What an event says of a transgression. */
public enum Phase {
    START,
    LASTING,
    END
}
