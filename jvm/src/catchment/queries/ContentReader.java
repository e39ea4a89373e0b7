package catchment.queries;

/** What makes columns of the content of a message. */
interface ContentReader {
    /** Puts the columns into a row behind `room` others; false if the message is not of this input. */
    boolean read(byte[] value, Object[] row, int room) throws Unreadable;
}
