package broker_tck.threads;

import java.util.function.BooleanSupplier;

/** Who holds a lock, and how often. */
final class Hold implements BooleanSupplier {

    private int owner;
    private int depth;

    boolean isFree() {
        return depth == 0;
    }

    /** What those wait for who do not hold it. */
    @Override
    public boolean getAsBoolean() {
        return isFree();
    }

    boolean isMine() {
        return depth > 0 && owner == Scheduler.thread();
    }

    int depth() {
        return depth;
    }

    boolean tryTake() {
        if (depth > 0 && !isMine()) {
            return false;
        }
        owner = Scheduler.thread();
        depth++;
        return true;
    }

    void take() {
        while (!tryTake()) {
            Scheduler.until(this);
        }
    }

    void give() {
        if (!isMine()) {
            throw new IllegalMonitorStateException();
        }
        depth--;
    }
}
