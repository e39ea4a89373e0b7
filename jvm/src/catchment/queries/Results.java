package catchment.queries;

/** Where a box puts what follows from a change. */
interface Results {
    /** A row that is there now, or not any more; its first {@link Change#META} places are filled in here. */
    void give(int sign, String id, long originUs, Object[] row);

    /** A row that came after its window was closed, and does not count there. */
    void setAside(Change late, String reason);

    /** A row that cannot be used at all. */
    void refuse(Change change, String reason);

    /** Counts a row that came late, and counts all the same. */
    void noteLate();
}
