package com.example;

import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import java.time.Clock;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;
import org.apache.pulsar.broker.delayed.DelayedDeliveryTracker;
import org.apache.pulsar.broker.service.persistent.AbstractPersistentDispatcherMultipleConsumers;

/** Keeps delayed messages sorted by the bucket of times that they fall into. Small, slow, and right. */
public class SortedTracker implements DelayedDeliveryTracker, TimerTask {

    private final AbstractPersistentDispatcherMultipleConsumers dispatcher;
    private final Timer timer;
    private final Clock clock;
    private final boolean strict;
    private final long lookahead;
    private final long width;
    private final NavigableMap<Long, NavigableSet<Position>> buckets = new TreeMap<>();

    private long tick;
    private long count;
    private Timeout timeout;
    private long target = -1;
    private Long lastRun;
    private long highest;
    private boolean sameDelay = true;

    public SortedTracker(AbstractPersistentDispatcherMultipleConsumers dispatcher, Timer timer, long tick, Clock clock,
                         boolean strict, long lookahead) {
        this.dispatcher = dispatcher;
        this.timer = timer;
        this.tick = tick;
        this.clock = clock;
        this.strict = strict;
        this.lookahead = lookahead;
        this.width = Long.highestOneBit(tick);
    }

    @Override
    public boolean addMessage(long ledger, long entry, long deliverAt) {
        if (deliverAt < 0 || deliverAt <= latestDue()) {
            sameDelay = false;
            return false;
        }
        Position position = PositionFactory.create(ledger, entry);
        if (buckets.computeIfAbsent(bucketOf(deliverAt), start -> new TreeSet<>()).add(position)) {
            count++;
        }
        updateTimer();
        if (deliverAt < highest - tick) {
            sameDelay = false;
        }
        highest = Math.max(highest, deliverAt);
        return true;
    }

    @Override
    public boolean hasMessageAvailable() {
        boolean available = !buckets.isEmpty() && lastOf(buckets.firstKey()) <= latestDue();
        if (!available) {
            updateTimer();
        }
        return available;
    }

    @Override
    public NavigableSet<Position> getScheduledMessages(int most) {
        NavigableSet<Position> due = new TreeSet<>();
        int left = most;
        while (left > 0 && !buckets.isEmpty() && lastOf(buckets.firstKey()) <= latestDue()) {
            NavigableSet<Position> bucket = buckets.firstEntry().getValue();
            while (left > 0 && !bucket.isEmpty()) {
                due.add(bucket.pollFirst());
                count--;
                left--;
            }
            if (bucket.isEmpty()) {
                buckets.pollFirstEntry();
            }
        }
        if (buckets.isEmpty()) {
            sameDelay = true;
            highest = 0;
        }
        updateTimer();
        return due;
    }

    @Override
    public boolean shouldPauseAllDeliveries() {
        return lookahead > 0 && sameDelay && count >= lookahead && !hasMessageAvailable();
    }

    @Override
    public void resetTickTime(long tick) {
        this.tick = tick;
    }

    @Override
    public long getNumberOfDelayedMessages() {
        return count;
    }

    @Override
    public long getBufferMemoryUsage() {
        return count * 64;
    }

    @Override
    public CompletableFuture<Void> clear() {
        buckets.clear();
        count = 0;
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public void close() {
        disarm();
    }

    @Override
    public void run(Timeout fired) {
        if (fired.isCancelled()) {
            return;
        }
        synchronized (this) {
            lastRun = clock.millis();
            if (fired == timeout) {
                timeout = null;
                target = -1;
            }
        }
        dispatcher.readMoreEntriesAsync();
    }

    private long latestDue() {
        return clock.millis() + (strict ? 0 : tick);
    }

    /** The start of a time's bucket; in strict mode times are rounded up, so that none is early. */
    private long bucketOf(long deliverAt) {
        long rounded = strict ? deliverAt + width - 1 : deliverAt;
        return (rounded < 0 ? Long.MAX_VALUE : rounded) & -width;
    }

    private long lastOf(long bucket) {
        return strict ? bucket : bucket + width - 1;
    }

    /** The dispatcher's threads call with its monitor held; the timer, and who closes this, do not hold it. */
    private synchronized void updateTimer() {
        if (buckets.isEmpty()) {
            disarm();
            return;
        }
        long now = clock.millis();
        long wake = Math.max(buckets.firstKey(), lastOf(buckets.firstKey()) - (strict ? 0 : tick));
        if (wake == target) {
            return;
        }
        disarm();
        if (lastRun != null && lastRun > now) {
            lastRun = null; // the clock was set back since
        }
        if (wake > now) {
            long earliest = lastRun == null ? wake : lastRun + tick;
            timeout = timer.newTimeout(this, Math.max(wake, earliest) - now, TimeUnit.MILLISECONDS);
            target = wake;
        }
    }

    private synchronized void disarm() {
        if (timeout != null) {
            timeout.cancel();
        }
        timeout = null;
        target = -1;
    }
}
