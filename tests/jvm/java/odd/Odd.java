package odd;

import io.netty.util.Timer;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.pulsar.broker.delayed.InMemoryDelayedDeliveryTracker;
import org.apache.pulsar.broker.service.persistent.AbstractPersistentDispatcherMultipleConsumers;

/** Trackers that do in addMessage what no tracker should. */
public class Odd extends InMemoryDelayedDeliveryTracker {

    public Odd(AbstractPersistentDispatcherMultipleConsumers dispatcher, Timer timer, long tick, Clock clock,
               boolean strict, long lookahead) {
        super(dispatcher, timer, tick, clock, strict, lookahead);
    }

    void misbehave() {
    }

    @Override
    public boolean addMessage(long ledger, long entry, long deliverAt) {
        misbehave();
        return super.addMessage(ledger, entry, deliverAt);
    }

    public static class Loops extends Odd {
        public Loops(AbstractPersistentDispatcherMultipleConsumers d, Timer t, long k, Clock c, boolean s, long l) {
            super(d, t, k, c, s, l);
        }

        @Override
        void misbehave() {
            while (true) {
            }
        }
    }

    /** Loops inside Java's own library, whose classes the kit does not hold. */
    public static class LoopsElsewhere extends Odd {
        public LoopsElsewhere(AbstractPersistentDispatcherMultipleConsumers d, Timer t, long k, Clock c, boolean s,
                              long l) {
            super(d, t, k, c, s, l);
        }

        @Override
        void misbehave() {
            LongStream.generate(() -> 0).anyMatch(number -> number > 0);
        }
    }

    public static class Recurses extends Odd {
        public Recurses(AbstractPersistentDispatcherMultipleConsumers d, Timer t, long k, Clock c, boolean s, long l) {
            super(d, t, k, c, s, l);
        }

        @Override
        void misbehave() {
            misbehave();
        }
    }

    public static class Allocates extends Odd {
        public Allocates(AbstractPersistentDispatcherMultipleConsumers d, Timer t, long k, Clock c, boolean s, long l) {
            super(d, t, k, c, s, l);
        }

        @Override
        void misbehave() {
            List<long[]> all = new ArrayList<>();
            while (true) {
                all.add(new long[1 << 26]);
            }
        }
    }

    public static class Exits extends Odd {
        public Exits(AbstractPersistentDispatcherMultipleConsumers d, Timer t, long k, Clock c, boolean s, long l) {
            super(d, t, k, c, s, l);
        }

        @Override
        void misbehave() {
            System.exit(7);
        }
    }

    public static class Throws extends Odd {
        public Throws(AbstractPersistentDispatcherMultipleConsumers d, Timer t, long k, Clock c, boolean s, long l) {
            super(d, t, k, c, s, l);
        }

        @Override
        void misbehave() {
            throw new IllegalStateException("no more of " + new Object());
        }
    }

    /** Reads the system's clock instead of the one that it was given: right, as the kit holds that one too. */
    public static class ReadsTheSystemsClock extends Odd {
        public ReadsTheSystemsClock(AbstractPersistentDispatcherMultipleConsumers d, Timer t, long k, Clock c,
                                    boolean s, long l) {
            super(d, t, k, new Clock() {
                private final java.util.function.LongSupplier now = System::currentTimeMillis;

                @Override
                public java.time.ZoneId getZone() {
                    return java.time.ZoneOffset.UTC;
                }

                @Override
                public Clock withZone(java.time.ZoneId zone) {
                    return this;
                }

                @Override
                public java.time.Instant instant() {
                    return java.time.Instant.ofEpochMilli(now.getAsLong());
                }
            }, s, l);
        }
    }

    /** Has not the constructor that a tracker is made with. */
    public static class Misfit extends Odd {
        public Misfit(AbstractPersistentDispatcherMultipleConsumers d, Timer t) {
            super(d, t, 1000, Clock.systemUTC(), false, 0);
        }
    }
}
