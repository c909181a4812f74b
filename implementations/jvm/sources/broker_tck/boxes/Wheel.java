package broker_tck.boxes;

import broker_tck.threads.Scheduler;
import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Netty's timer, which fires on the thread that moves its clock. Times are in nanoseconds. */
final class Wheel implements Timer {

    static final long MILLISECOND = 1_000_000;
    /** In nanoseconds and in milliseconds. */
    private static final long NEVER = Long.MAX_VALUE;

    long now;
    private final long grain;
    private final List<Armed> live = new ArrayList<>();
    private Armed cancelledLast;

    /** Delays are rounded down to multiples of the grain. */
    Wheel(long now, long grain) {
        this.now = now;
        this.grain = grain;
    }

    @Override
    public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
        long wait = Math.floorDiv(unit.toNanos(delay), grain) * grain;
        Armed armed = new Armed(this, task, wait > NEVER - now ? NEVER : now + wait);
        live.add(armed);
        return armed;
    }

    @Override
    public Set<Timeout> stop() {
        Set<Timeout> left = new HashSet<>(live);
        live.clear();
        return left;
    }

    /** Take out the timeout that is the first to fire by a time, with the clock at its time; null if there is none. */
    Armed due(long until) {
        Armed first = null;
        for (Armed armed : live) {
            if (armed.deadline <= until && (first == null || armed.deadline < first.deadline)) {
                first = armed;
            }
        }
        if (first != null) {
            now = Math.max(now, first.deadline);
            live.remove(first);
            first.expired = true;
        }
        return first;
    }

    /** Fire the timeout that was cancelled last all the same. */
    void stale() throws Exception {
        if (cancelledLast != null) {
            cancelledLast.fire();
        }
    }

    /** For which milliseconds timeouts are armed, rounded up. */
    List<Long> armed() {
        List<Long> times = new ArrayList<>();
        for (Armed armed : live) {
            times.add(armed.deadline == NEVER ? NEVER : -Math.floorDiv(-armed.deadline, MILLISECOND));
        }
        Collections.sort(times);
        return times;
    }

    /** Set the clock. What is armed waits as long as before. */
    void jump(long by) {
        now += by;
        for (Armed armed : live) {
            armed.deadline += by;
        }
    }

    /** A timeout is armed, then it expires or is cancelled, and it stays so. */
    static final class Armed implements Timeout {

        private final Wheel wheel;
        private final TimerTask task;
        private long deadline;
        private boolean expired;
        private boolean cancelled;

        Armed(Wheel wheel, TimerTask task, long deadline) {
            this.wheel = wheel;
            this.task = task;
            this.deadline = deadline;
        }

        void fire() throws Exception {
            Scheduler.point(Scheduler.FIRES);
            task.run(this);
        }

        @Override
        public Timer timer() {
            return wheel;
        }

        @Override
        public TimerTask task() {
            return task;
        }

        @Override
        public boolean isExpired() {
            return expired;
        }

        @Override
        public boolean isCancelled() {
            return cancelled;
        }

        @Override
        public boolean cancel() {
            if (expired || cancelled) {
                return false;
            }
            cancelled = true;
            wheel.live.remove(this);
            wheel.cancelledLast = this;
            return true;
        }
    }
}
