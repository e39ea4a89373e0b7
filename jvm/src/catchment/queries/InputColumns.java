package catchment.queries;

/** Columns of what inputs make, by number. */
final class InputColumns {
    /** How many columns of the output come before those of the inputs. */
    static final int META = 9;

    /** `_number` and `_entry` are of those that go on from here. */
    static final int TICK_MS = 0;

    static final int ID = 1;
    static final int SIGN = 2;
    static final int ORIGIN_US = 3;
    static final int VERSION = 4;
    static final int ASIDE = 5;
    static final int EDGE = 6;
    static final int NUMBER = 7;
    static final int ENTRY = 8;

    private InputColumns() {}
}
