package io.netty.util;

import broker_tck.threads.Scheduler;
import io.netty.util.internal.ObjectPool;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/**
 * Netty's pool of objects, with one by each thread of the scheduler, and empty as each run begins. What is made while
 * there are no threads yet is thread 0's.
 */
public abstract class Recycler<T> {

    private final Map<Integer, ArrayDeque<Pooled<T>>> free = new HashMap<>();
    private int run;

    protected Recycler() {}

    /** A pool has room for all objects. */
    protected Recycler(int capacity) {}

    protected abstract T newObject(Handle<T> handle);

    /** An object of the thread's own, used again if there is one. */
    public final T get() {
        if (run != Scheduler.runs()) {
            run = Scheduler.runs();
            free.clear();
        }
        int thread = Math.max(0, Scheduler.thread());
        free.putIfAbsent(thread, new ArrayDeque<>());
        ArrayDeque<Pooled<T>> mine = free.get(thread);
        Pooled<T> found = mine.pollLast();
        if (found == null) {
            found = new Pooled<>(mine);
            found.object = newObject(found);
        }
        return found.object;
    }

    public interface Handle<T> extends ObjectPool.Handle<T> {}

    public abstract static class EnhancedHandle<T> implements Handle<T> {

        public abstract void unguardedRecycle(Object object);
    }

    private static final class Pooled<T> extends EnhancedHandle<T> {

        private final ArrayDeque<Pooled<T>> home;
        private T object;

        Pooled(ArrayDeque<Pooled<T>> home) {
            this.home = home;
        }

        @Override
        public void recycle(T object) {
            home.addLast(this);
        }

        @Override
        public void unguardedRecycle(Object object) {
            home.addLast(this);
        }
    }
}
