package broker_tck.threads;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** A lock that threads of the scheduler hold. While one waits no time passes, so that it does not give up. */
public class Reentrant extends ReentrantLock {

    private final transient Hold hold = new Hold();

    public Reentrant() {}

    public Reentrant(boolean fair) {
        super(fair);
    }

    @Override
    public void lock() {
        hold.take();
    }

    @Override
    public void lockInterruptibly() {
        hold.take();
    }

    @Override
    public boolean tryLock() {
        return hold.tryTake();
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) {
        hold.take();
        return true;
    }

    @Override
    public void unlock() {
        hold.give();
    }

    @Override
    public boolean isLocked() {
        return !hold.isFree();
    }

    @Override
    public boolean isHeldByCurrentThread() {
        return hold.isMine();
    }

    @Override
    public int getHoldCount() {
        return hold.isMine() ? hold.depth() : 0;
    }

    @Override
    public Condition newCondition() {
        throw new Stop("it calls Lock.newCondition");
    }
}
