package broker_tck;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** The time and the fuel that the kit sets, and what an instrumented class calls instead of Java's own methods. */
public class Held {

    public static long fuel;
    public static long wall;
    public static long monotonic;

    /** Burns a unit of fuel, before each jump backwards. */
    public static void burn() {
        if (--fuel < 0) {
            throw new Spins();
        }
    }

    public static long currentTimeMillis() {
        return wall;
    }

    public static long nanoTime() {
        return monotonic;
    }

    public static Instant now() {
        return Instant.ofEpochMilli(wall);
    }

    public static Clock systemUTC() {
        return new HeldClock(ZoneOffset.UTC);
    }

    /** The default zone is UTC, on every machine. */
    public static Clock systemDefaultZone() {
        return systemUTC();
    }

    public static Clock system(ZoneId zone) {
        return new HeldClock(zone);
    }

    public static void exit(int status) {
        throw new Ends();
    }

    public static void exit(Runtime runtime, int status) {
        throw new Ends();
    }

    public static void halt(Runtime runtime, int status) {
        throw new Ends();
    }

    /** A loop has used up its fuel. */
    public static class Spins extends Error {}

    /** The process was to be ended. */
    public static class Ends extends Error {}

    private static class HeldClock extends Clock {

        private final ZoneId zone;

        HeldClock(ZoneId zone) {
            this.zone = zone;
        }

        @Override
        public ZoneId getZone() {
            return zone;
        }

        @Override
        public Clock withZone(ZoneId other) {
            return new HeldClock(other);
        }

        @Override
        public Instant instant() {
            return now();
        }
    }
}
