package catchment.ledger;

import java.nio.charset.StandardCharsets;

/** The account of one source: its tally, and the row of the ledger that it makes. */
final class Account {
    private static final int RANGES_SHOWN = 100;

    private final Tally tally;
    private final byte[] key;
    private final String beginning;

    Account(String identity, Tally tally) {
        this.tally = tally;
        this.key = identity.getBytes(StandardCharsets.US_ASCII);
        // No character that an identity may have needs to be escaped.
        String[] parts = identity.split("/", 4);
        this.beginning = "{\"site\":\"" + parts[0] + "\",\"gateway\":\"" + parts[1] + "\",\"epoch\":" + parts[2]
                + ",\"stream\":\"" + parts[3] + "\",\"version\":";
    }

    Tally tally() {
        return tally;
    }

    /** The key of its rows. */
    byte[] key() {
        return key;
    }

    byte[] toJson() {
        StringBuilder row = new StringBuilder(beginning.length() + 200);
        row.append(beginning).append(tally.version());
        row.append(",\"received\":").append(tally.received());
        row.append(",\"highest\":").append(tally.highest());
        row.append(",\"duplicates\":").append(tally.duplicates());
        row.append(",\"out_of_order\":").append(tally.outOfOrder());
        row.append(",\"missing\":").append(tally.missing()).append(",\"gaps\":[");
        if (tally.missing() > 0) {
            appendGaps(row);
        }
        row.append("],\"first_origin_us\":").append(tally.firstOriginUs());
        row.append(",\"last_origin_us\":").append(tally.lastOriginUs()).append('}');
        return row.toString().getBytes(StandardCharsets.US_ASCII);
    }

    private void appendGaps(StringBuilder row) {
        String separator = "";
        for (long[] range : tally.gaps().lowest(RANGES_SHOWN)) {
            row.append(separator).append('[').append(range[0]).append(',').append(range[1]).append(']');
            separator = ",";
        }
    }
}
