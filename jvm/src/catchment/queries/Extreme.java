package catchment.queries;

import catchment.control.Packed;

/** The least or the greatest value, or that of the first or the last row, of rows that are never withdrawn. */
final class Extreme implements Accumulator {
    private final boolean last;
    private final boolean byTime;
    private boolean any;
    private long timeUs;
    private String id = "";
    private Object value;

    Extreme(boolean last, boolean byTime) {
        this.last = last;
        this.byTime = byTime;
    }

    @Override
    public void add(Object value, int sign, long timeUs, String id) {
        if (value == null || any && (order(value, timeUs, id) > 0) != last) {
            return;
        }
        any = true;
        this.timeUs = timeUs;
        this.id = byTime ? id : "";
        this.value = value;
    }

    private int order(Object other, long otherTimeUs, String otherId) {
        if (!byTime) {
            return Values.compare(other, value);
        }
        int order = Long.compare(otherTimeUs, timeUs);
        return order == 0 ? otherId.compareTo(id) : order;
    }

    @Override
    public Object result() {
        return value;
    }

    @Override
    public void write(Packed out) {
        out.writeByte(any ? 1 : 0);
        out.writeLong(timeUs);
        out.writeText(id);
        Values.write(out, value);
    }

    @Override
    public void read(Packed in) {
        any = in.readByte() == 1;
        timeUs = in.readLong();
        id = in.readText();
        value = Values.read(in);
    }
}
