package odd;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/** What threads share, some of it without a lock. */
public class Shared {

    private static final ThreadLocal<long[]> HERE = ThreadLocal.withInitial(() -> new long[1]);

    private final Object first = new Object();
    private final Object second = new Object();
    private final ReentrantLock lock = new ReentrantLock();
    private final ReentrantReadWriteLock both = new ReentrantReadWriteLock();
    private final StampedLock stamped = new StampedLock();
    private final ConcurrentMap<String, Long> map = new ConcurrentHashMap<>();
    private final long[] counts = {0};
    private int count;
    private boolean done;

    /** Two that look at once both see the same. */
    public long next() {
        int seen = count;
        count = seen + 1;
        return seen;
    }

    public synchronized long monitored() {
        return next();
    }

    public long entered() {
        synchronized (first) {
            return next();
        }
    }

    public long locked() {
        lock.lock();
        try {
            return next();
        } finally {
            lock.unlock();
        }
    }

    public long written() {
        both.writeLock().lock();
        try {
            return next();
        } finally {
            both.writeLock().unlock();
        }
    }

    public long stamped() {
        long stamp = stamped.writeLock();
        try {
            return next();
        } finally {
            stamped.unlockWrite(stamp);
        }
    }

    /** All that a map of Java's own does under a lock of its own happens in one go. */
    public long computed() {
        map.compute("count", (key, before) -> next() + 1);
        return map.get("count") - 1;
    }

    /** How often this thread was here before. */
    public long here() {
        long[] times = HERE.get();
        return times[0]++;
    }

    public long nextOfArray() {
        long seen = counts[0];
        counts[0] = seen + 1;
        return seen;
    }

    public long nextOfFresh() {
        long[] fresh = {1, 2, 3};
        return fresh.length - 3;
    }

    public void waits() throws InterruptedException {
        synchronized (first) {
            first.wait();
        }
    }

    /** Readers do not keep each other out. */
    public long read() {
        both.readLock().lock();
        try {
            return next();
        } finally {
            both.readLock().unlock();
        }
    }

    public long stampedRead() {
        long stamp = stamped.readLock();
        try {
            return next();
        } finally {
            stamped.unlockRead(stamp);
        }
    }

    /** Each is right, and two of them at once wait for each other. */
    public long oneWay() {
        synchronized (first) {
            synchronized (second) {
                return next();
            }
        }
    }

    public long otherWay() {
        synchronized (second) {
            synchronized (first) {
                return next();
            }
        }
    }

    /** Loops until somebody else has called finish. */
    public void await() {
        while (!done) {
            Thread.onSpinWait();
        }
    }

    public void finish() {
        done = true;
    }

    /** Loops for ever, whatever others do. */
    public void spin() {
        for (int i = 0; i >= 0; i = i + 1 & 7) {
            Thread.onSpinWait();
        }
    }

    /** A synchronized method that throws lets go of its monitor. */
    public synchronized void thrown() {
        throw new IllegalStateException("as it is meant to");
    }
}
