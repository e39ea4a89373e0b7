package catchment.queries;

import static catchment.queries.InputColumns.*;

import catchment.control.KafkaRows;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.unsafe.types.UTF8String;

/** Makes rows of the messages of one input, for one task. */
final class InputReading {
    private static final UTF8String DEADLETTER = KafkaRows.topic("deadletter");

    private final InputSpec spec;
    private final ContentReader reader;
    private final Meter meter;
    private final Senders senders;
    private final UTF8String topic;
    private final int first;
    private final int width;

    InputReading(InputSpec spec, int width) {
        this.spec = spec;
        this.reader = spec.reader();
        this.senders = new Senders(spec);
        this.meter = Meter.of(spec.query(), spec.input());
        this.topic = UTF8String.fromString(spec.topic());
        this.first = META + spec.first();
        this.width = width;
    }

    /** A row; null if the message is of no interest. */
    InternalRow read(Message message) {
        Object[] row = new Object[width];
        Senders.Sender sender = senders.identify(message, row);
        if (sender == null || !sender.wanted()) {
            return null;
        }
        byte[] value = message.value();
        try {
            if (value == null && (Integer) row[SIGN] > 0) {
                throw new Unreadable("it is empty");
            }
            if (value != null && !reader.read(value, row, first)) {
                return null;
            }
        } catch (Unreadable error) {
            return refused(message, error.getMessage());
        }
        if (spec.keepsRepeats()) {
            row[ID] = Integer.toString(message.partition());
            row[NUMBER] = message.offset() + 1;
        }
        add(row, sender);
        row[EDGE] = spec.edge();
        meter.left((Long) row[ORIGIN_US]);
        Internals.internalise(row, 0);
        return new GenericInternalRow(row);
    }

    private void add(Object[] row, Senders.Sender sender) {
        int place = first + spec.names().size();
        for (String column : spec.added()) {
            row[place++] = switch (column) {
                case "origin" -> row[ORIGIN_US];
                case "site" -> sender.site();
                default -> sender.stream();
            };
        }
    }

    private InternalRow refused(Message message, String why) {
        meter.refused();
        String reason = "query " + spec.query() + ", input " + spec.input() + ": " + why;
        Object[] aside = new Object[width];
        aside[ASIDE] = KafkaRows.row(
                DEADLETTER, message.key(), message.value(), KafkaRows.ofLetter(message.headers().inSpark(), reason, topic));
        return new GenericInternalRow(aside);
    }
}
