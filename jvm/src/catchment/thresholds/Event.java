package catchment.thresholds;

/**
 * What a rule says of a sensor: a transgression starts, lasts or has ended, with its statistics so far.
 *
 * <p>A transgression is how far a value is beyond the threshold, in the rule's unit.
 */
public record Event(
        RuleKey rule,
        Terms terms,
        String subject,
        Phase phase,
        long sequence,
        long timestampMs,
        long firstMs,
        long lastMs,
        long count,
        double averageTransgression,
        double maxTransgression,
        double latest) {}
