package catchment.queries;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;

/** The types that columns may have, as catchment/queries/types.py has them. */
enum ColumnKind {
    BOOLEAN,
    INT,
    BIGINT,
    DOUBLE,
    STRING,
    TIMESTAMP,
    BINARY;

    /** The kind of a type, or of the elements of an array. */
    static ColumnKind of(String type) {
        String scalar = isArray(type) ? type.substring("array<".length(), type.length() - 1) : type;
        return valueOf(scalar.toUpperCase(java.util.Locale.ROOT));
    }

    static boolean isArray(String type) {
        return type.startsWith("array<");
    }

    /** A time in µs from text in the form of ISO 8601; without a zone it is UTC. */
    static long timeUs(String text) throws Unreadable {
        try {
            return ChronoUnit.MICROS.between(Instant.EPOCH, instant(text));
        } catch (DateTimeException | ArithmeticException error) {
            throw new Unreadable("'" + text + "' is no time; write it as 2026-01-31T12:00:00Z");
        }
    }

    private static Instant instant(String text) {
        if (text.endsWith("Z")) {
            return Instant.parse(text);
        }
        if (text.length() <= "2026-01-31".length()) {
            return LocalDate.parse(text).atStartOfDay().toInstant(ZoneOffset.UTC);
        }
        String standard = text.replace(' ', 'T');
        boolean hasZone = standard.indexOf('+') > 0 || standard.lastIndexOf('-') > "2026-01".length();
        return hasZone
                ? OffsetDateTime.parse(standard).toInstant()
                : LocalDateTime.parse(standard).toInstant(ZoneOffset.UTC);
    }
}
