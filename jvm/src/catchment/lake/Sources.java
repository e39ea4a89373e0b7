package catchment.lake;

import catchment.records.Stamp;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The sources that stamps name, each taken apart once. */
final class Sources {
    private static final int IDENTITY_OFFSET = 17;
    private static final int PARTS = 4;
    private static final int EPOCH = 2;

    private final Pattern pattern;
    private final Map<String, String[]> known = new HashMap<>();

    /** The pattern is that of catchment/records.py: a group for each part. */
    Sources(String pattern) {
        this.pattern = Pattern.compile(pattern);
    }

    /** Site, gateway, epoch and stream; null if the stamp is not valid. */
    String[] of(byte[] stamp) {
        if (stamp.length <= IDENTITY_OFFSET || stamp[0] != 1 || Stamp.sequence(stamp) < 1) {
            return null;
        }
        int length = stamp.length - IDENTITY_OFFSET;
        String identity = new String(stamp, IDENTITY_OFFSET, length, StandardCharsets.UTF_8);
        return known.computeIfAbsent(identity, this::parts);
    }

    private String[] parts(String identity) {
        Matcher matcher = pattern.matcher(identity);
        if (!matcher.matches()) {
            return null;
        }
        String[] parts = new String[PARTS];
        for (int index = 0; index < PARTS; index++) {
            parts[index] = matcher.group(index + 1);
        }
        // An epoch is a time in ms: one that is no long is nobody's.
        return new BigInteger(parts[EPOCH]).bitLength() < Long.SIZE ? parts : null;
    }
}
