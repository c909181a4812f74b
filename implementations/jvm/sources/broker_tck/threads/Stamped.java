package broker_tck.threads;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.StampedLock;
import java.util.function.BooleanSupplier;

/** A lock that threads of the scheduler hold. While one waits no time passes, so that it does not give up. */
public class Stamped extends StampedLock {

    private final transient Free unlocked = new Free(this, true);
    private final transient Free unwritten = new Free(this, false);

    @Override
    public long writeLock() {
        Scheduler.until(unlocked);
        return tryWriteLock();
    }

    @Override
    public long readLock() {
        Scheduler.until(unwritten);
        return tryReadLock();
    }

    @Override
    public long writeLockInterruptibly() {
        return writeLock();
    }

    @Override
    public long readLockInterruptibly() {
        return readLock();
    }

    @Override
    public long tryWriteLock(long time, TimeUnit unit) {
        return writeLock();
    }

    @Override
    public long tryReadLock(long time, TimeUnit unit) {
        return readLock();
    }

    /** That nobody writes, or nobody reads either. */
    private static final class Free implements BooleanSupplier {

        private final StampedLock lock;
        private final boolean unread;

        Free(StampedLock lock, boolean unread) {
            this.lock = lock;
            this.unread = unread;
        }

        @Override
        public boolean getAsBoolean() {
            return !lock.isWriteLocked() && !(unread && lock.isReadLocked());
        }
    }
}
