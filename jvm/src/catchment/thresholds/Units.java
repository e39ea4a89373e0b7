package catchment.thresholds;

import java.util.Set;

/** Conversion between units: temperatures into each other, everything else only into itself. */
public final class Units {
    /** The unit of what nobody named a unit for: it fits any. */
    public static final String UNKNOWN = "";

    private static final Set<String> TEMPERATURES = Set.of("C", "F", "K");
    private static final double ZERO_C_IN_K = 273.15;

    private Units() {}

    /** A value in another unit; not a number where there is no way from one to the other. */
    public static double convert(double value, String from, String to) {
        if (areAlike(from, to)) {
            return value;
        }
        return canConvert(from, to) ? fromCelsius(toCelsius(value, from), to) : Double.NaN;
    }

    /** Whether there is a way from one unit to the other. */
    public static boolean canConvert(String from, String to) {
        return areAlike(from, to) || (TEMPERATURES.contains(from) && TEMPERATURES.contains(to));
    }

    private static boolean areAlike(String from, String to) {
        return from.equals(to) || from.equals(UNKNOWN) || to.equals(UNKNOWN);
    }

    private static double toCelsius(double value, String from) {
        return switch (from) {
            case "F" -> (value - 32) * 5 / 9;
            case "K" -> value - ZERO_C_IN_K;
            default -> value;
        };
    }

    private static double fromCelsius(double value, String to) {
        return switch (to) {
            case "F" -> value * 9 / 5 + 32;
            case "K" -> value + ZERO_C_IN_K;
            default -> value;
        };
    }
}
