package odd;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.util.function.Function;
import java.util.function.Supplier;

/** The ways to ask for the time that the kit holds. */
public class Times {

    public static Instant[] all() {
        Supplier<Instant> now = Instant::now;
        Supplier<Clock> utc = Clock::systemUTC;
        Function<ZoneId, Clock> there = Clock::system;
        return new Instant[] {
            Instant.ofEpochMilli(System.currentTimeMillis()),
            Instant.now(),
            now.get(),
            Clock.systemUTC().instant(),
            utc.get().instant(),
            Clock.systemDefaultZone().instant(),
            Instant.now(Clock.system(ZoneId.of("+05:00"))),
            there.apply(ZoneId.of("+05:00")).instant(),
            Instant.ofEpochMilli(Clock.systemUTC().withZone(ZoneId.of("+01:00")).millis()),
        };
    }

    public static String[] zones() {
        return new String[] {
            Clock.systemUTC().getZone().getId(),
            Clock.systemDefaultZone().getZone().getId(),
            Clock.system(ZoneId.of("+05:00")).getZone().getId(),
            Clock.systemUTC().withZone(ZoneId.of("+01:00")).getZone().getId(),
        };
    }
}
