package catchment.thresholds;

import java.util.function.ToDoubleFunction;

/**
 * One measurement of a sensor, as far as rules ask for it.
 *
 * <p>{@code numbers} gives the value of a field, and not a number for what is no number or not there.
 */
public record Reading(String subject, long ms, String unit, ToDoubleFunction<String> numbers) {
    /** The value that a rule is about, in its unit; not a number if it cannot be judged by the rule. */
    public double valueFor(Rule rule) {
        double value = numbers.applyAsDouble(rule.terms().field());
        return Units.convert(value, unit, rule.terms().unit());
    }

    /** Whether a rule is about a value of this reading that cannot be brought into the rule's unit. */
    public boolean isInUnitForeignTo(Rule rule) {
        return !Units.canConvert(unit, rule.terms().unit())
                && Double.isFinite(numbers.applyAsDouble(rule.terms().field()));
    }
}
