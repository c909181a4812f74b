package broker_tck.threads;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BooleanSupplier;

/** A pair of locks that threads of the scheduler hold. While one waits no time passes, so that it does not give up. */
public class ReadWrite extends ReentrantReadWriteLock {

    private final transient Hold writer = new Hold();
    private final transient Map<Integer, Integer> readers = new HashMap<>();
    private final transient Reads reads = new Reads(this);
    private final transient Writes writes = new Writes(this);

    public ReadWrite() {}

    public ReadWrite(boolean fair) {
        super(fair);
    }

    @Override
    public ReadLock readLock() {
        return reads;
    }

    @Override
    public WriteLock writeLock() {
        return writes;
    }

    private boolean mayRead() {
        return writer.isFree() || writer.isMine();
    }

    private boolean mayWrite() {
        return mayRead() && (readers.isEmpty() || writer.isMine());
    }

    private static final class Reads extends ReadLock {

        private final transient ReadWrite both;

        Reads(ReadWrite both) {
            super(both);
            this.both = both;
        }

        @Override
        public void lock() {
            while (!tryLock()) {
                Scheduler.until(both.writer);
            }
        }

        @Override
        public void lockInterruptibly() {
            lock();
        }

        @Override
        public boolean tryLock() {
            if (both.mayRead()) {
                both.readers.put(Scheduler.thread(), depth() + 1);
                return true;
            }
            return false;
        }

        @Override
        public boolean tryLock(long time, TimeUnit unit) {
            lock();
            return true;
        }

        @Override
        public void unlock() {
            int depth = depth();
            if (depth == 0) {
                throw new IllegalMonitorStateException();
            }
            both.readers.put(Scheduler.thread(), depth - 1);
            both.readers.remove(Scheduler.thread(), 0);
        }

        private int depth() {
            return both.readers.getOrDefault(Scheduler.thread(), 0);
        }
    }

    private static final class Writes extends WriteLock implements BooleanSupplier {

        private final transient ReadWrite both;

        Writes(ReadWrite both) {
            super(both);
            this.both = both;
        }

        @Override
        public void lock() {
            while (!tryLock()) {
                Scheduler.until(this);
            }
        }

        @Override
        public void lockInterruptibly() {
            lock();
        }

        @Override
        public boolean tryLock() {
            return both.mayWrite() && both.writer.tryTake();
        }

        @Override
        public boolean tryLock(long time, TimeUnit unit) {
            lock();
            return true;
        }

        @Override
        public void unlock() {
            both.writer.give();
        }

        /** What those wait for who write. */
        @Override
        public boolean getAsBoolean() {
            return both.writer.isFree() && both.readers.isEmpty();
        }

        @Override
        public Condition newCondition() {
            throw new Stop("it calls Lock.newCondition");
        }
    }
}
