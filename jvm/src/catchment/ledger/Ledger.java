package catchment.ledger;

import catchment.control.BeforeCommit;
import catchment.control.InUse;
import catchment.control.KafkaRows;
import catchment.control.SparkRows;
import catchment.records.Stamp;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The ledger as an operator: a {@link Tally} for every source, one row out for each row in.
 *
 * <p>Input: identity string, stamp binary, letter struct. A row with a letter has no valid stamp and goes to the
 * dead letters as it is. Accounts in use are in memory, and go into the state before each checkpoint. A live stream
 * gives one row at a time; in a batch all rows of a source come together, and every one of them still gives a row.
 */
public final class Ledger extends StatefulProcessor<String, InternalRow, InternalRow> {
    private static final long serialVersionUID = 1L;
    private static final UTF8String LEDGER = KafkaRows.topic("ledger");
    private static final UTF8String DEAD_LETTERS = KafkaRows.topic("deadletter");

    /** Columns of the input, by number: this is the hot path. */
    private static final int STAMP = 1;

    private static final int LETTER = 2;
    private static final int LETTER_PARTS = 3;

    private transient ValueState<byte[]> tallies;
    private transient ValueState<byte[]> gaps;
    private transient InUse<Account> accounts;

    /** Applies the operator; called from Python. */
    public static Dataset<Row> apply(Dataset<Row> stamps) {
        return stamps.groupBy("identity")
                .as(Encoders.STRING(), SparkRows.encoder(stamps.schema()))
                .transformWithState(
                        new Ledger(), TimeMode.None(), OutputMode.Update(), SparkRows.encoder(KafkaRows.SCHEMA))
                .toDF();
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        tallies = getHandle().getValueState("tally", Encoders.BINARY(), TTLConfig.NONE());
        gaps = getHandle().getValueState("gaps", Encoders.BINARY(), TTLConfig.NONE());
        accounts = new InUse<>(new AccountState());
        BeforeCommit.call(getHandle(), accounts::save);
    }

    @Override
    public Iterator<InternalRow> handleInputRows(
            String identity, Iterator<InternalRow> rows, TimerValues timers) {
        List<InternalRow> results = new ArrayList<>(1);
        while (rows.hasNext()) {
            InternalRow row = rows.next();
            results.add(row.isNullAt(LETTER) ? counted(identity, row.getBinary(STAMP)) : buried(row));
        }
        return CollectionConverters.asScala(results.iterator());
    }

    private InternalRow counted(String identity, byte[] stamp) {
        Account known = accounts.get(identity);
        Account account = known == null ? new Account(identity, new Tally()) : known;
        account.tally().add(Stamp.sequence(stamp), Stamp.originUs(stamp));
        accounts.put(identity, account);
        InternalRow origin = KafkaRows.header(KafkaRows.ORIGIN_HEADER, Long.toString(Stamp.originUs(stamp)));
        return KafkaRows.row(LEDGER, account.key(), account.toJson(), KafkaRows.headers(origin));
    }

    private static InternalRow buried(InternalRow row) {
        InternalRow letter = row.getStruct(LETTER, LETTER_PARTS).copy();
        return KafkaRows.row(
                DEAD_LETTERS, KafkaRows.bytes(letter, 0), KafkaRows.bytes(letter, 1), letter.getArray(2));
    }

    private final class AccountState implements InUse.State<Account> {
        @Override
        public Account read(String identity) {
            byte[] stored = tallies.get();
            return stored == null ? null : new Account(identity, Tally.fromBytes(stored, this::readGaps));
        }

        private Gaps readGaps() {
            byte[] stored = gaps.get();
            return stored == null ? new Gaps() : Gaps.fromBytes(stored);
        }

        @Override
        public void write(String identity, Account account) {
            BeforeCommit.withStateOf(identity, () -> write(account.tally()));
        }

        private void write(Tally tally) {
            tallies.update(tally.toBytes());
            if (tally.gapsChanged()) {
                gaps.update(tally.gaps().toBytes());
                tally.gapsAreStored();
            }
        }
    }
}
