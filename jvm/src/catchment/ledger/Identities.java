package catchment.ledger;

import catchment.control.SparkRows;
import catchment.records.Stamp;
import java.io.Serializable;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;

/** The identities in stamps, as a column: those that are valid are recognised by their bytes. */
public final class Identities implements Serializable {
    private static final long serialVersionUID = 1L;
    private static final int REMEMBERED = 10_000;

    private transient Map<UTF8String, UTF8String> valid;

    private Identities() {}

    /** The column, empty where a stamp is missing or not valid; called from Python. */
    public static Column of(Column stamps) {
        return SparkRows.call(new Identities(), "in", DataTypes.StringType, stamps);
    }

    /** Called from Spark's plans. */
    public UTF8String in(byte[] stamp) {
        if (!Stamp.isWhole(stamp)) {
            return UTF8String.EMPTY_UTF8;
        }
        if (valid == null || valid.size() > REMEMBERED) {
            valid = new HashMap<>();
        }
        UTF8String identity =
                UTF8String.fromBytes(stamp, Stamp.IDENTITY_OFFSET, stamp.length - Stamp.IDENTITY_OFFSET);
        UTF8String known = valid.get(identity);
        if (known == null && Stamp.isIdentity(identity.toString())) {
            known = UTF8String.fromString(identity.toString());
            valid.put(known, known);
        }
        return known == null ? UTF8String.EMPTY_UTF8 : known;
    }
}
