package catchment.store;

/** How many records of one task are not stored yet; a checkpoint waits until there are none. */
public final class Pending {
    private long open;

    public synchronized void add() {
        open++;
    }

    public synchronized void done() {
        open--;
        if (open == 0) {
            notifyAll();
        }
    }

    public synchronized void await() throws InterruptedException {
        while (open > 0) {
            wait();
        }
    }
}
