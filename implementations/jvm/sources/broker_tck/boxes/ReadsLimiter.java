package broker_tck.boxes;

import broker_tck.Held;
import broker_tck.threads.Box;
import broker_tck.threads.Scheduler;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A limiter of reads, and what a cache does with it: a reader acquires permits, reads, and releases the permits
 * with what he has read. The storage answers at once, and nothing is cached.
 */
public final class ReadsLimiter implements Box {

    /** The permits for an entry of a ledger of which nothing is known. */
    private static final long PERMITS = 10_240 + 64;

    private final Object limiter;
    private final Later timer = new Later();
    /** Those who hold entries, by their numbers. */
    private final TreeMap<Long, Reader> holding = new TreeMap<>();
    /** Whom the call of each thread has served so far: the limiter is locked meanwhile. */
    private final Map<Integer, List<Reader>> served = new HashMap<>();
    private long readers;

    public ReadsLimiter(Map<String, Object> config) throws Throwable {
        Held.wall = 0;
        Class<?>[] timers = {ScheduledExecutorService.class};
        limiter = Released.makeWith(
            EntryCaches.LEDGER + "impl.cache.InflightReadsLimiter",
            config.get("max_reads_in_flight"),
            Values.number(config.get("acquire_queue")),
            config.get("acquire_timeout"),
            Proxy.newProxyInstance(ReadsLimiter.class.getClassLoader(), timers, timer),
            Released.callStatic("io.opentelemetry.api.OpenTelemetry", "noop"));
    }

    @Override
    public Object call(String name, Object[] a) throws Throwable {
        switch (name) {
            case "storage":
                return null;
            case "adv":
                Held.wall += (Long) a[0];
                return null;
            case "permits":
                return Released.call(limiter, "getRemainingBytes");
            case "single":
                ask(new Reader(this, ++readers, a[0], a[1], (Long) a[2], 1, 0));
                return told();
            case "fetch":
                ask(new Reader(this, ++readers, a[0], a[2], (Long) a[3], Values.number(a[4]), 1));
                return told();
            case "done":
                done((Long) a[0]);
                return told();
            case "timeouts":
                for (Runnable task : timer.due()) {
                    task.run();
                }
                return told();
            default:
                throw new NoSuchMethodError(name);
        }
    }

    /** Nothing is cached. */
    @Override
    public Object[] seen() {
        Object[] empty = Values.pair(0L, 0L);
        int entries = 0;
        for (Reader reader : holding.values()) {
            entries += reader.entries;
        }
        return new Object[] {new Object[] {empty, empty, empty}, entries};
    }

    private void ask(Reader reader) throws Throwable {
        Optional<?> handle = (Optional<?>) Released.call(limiter, "acquire", reader.entries * PERMITS, reader);
        if (handle.isPresent()) {
            reader.accept(handle.get());
        }
    }

    private void done(long i) throws Throwable {
        if (!holding.isEmpty()) {
            Long number = (Long) holding.keySet().toArray()[(int) (i % holding.size())];
            Released.call(limiter, "release", holding.remove(number).handle);
        }
    }

    /** What follows from a call of the limiter: whom it has served reads, or is told that he cannot. */
    private List<Object[]> told() throws Throwable {
        Told told = new Told();
        List<Reader> readers = served.remove(Scheduler.thread());
        for (Reader reader : readers == null ? new ArrayList<Reader>() : readers) {
            if ((Boolean) Released.call(reader.handle, "success")) {
                holding.put(reader.number, reader);
                reader.read(told);
            } else {
                told.add("fails", reader.number);
            }
        }
        return told.list();
    }

    /** Somebody who reads a range. He is told of his permits under the limiter's lock. */
    private static final class Reader implements Consumer<Object> {

        private final ReadsLimiter its;
        private final long number;
        private final Object topic;
        private final Object ledger;
        private final long first;
        private final int entries;
        /** How often he is asked how many reads are expected. */
        private final int counted;
        private Object handle;

        Reader(ReadsLimiter its, long number, Object topic, Object ledger, long first, int entries, int counted) {
            this.its = its;
            this.number = number;
            this.topic = topic;
            this.ledger = ledger;
            this.first = first;
            this.entries = entries;
            this.counted = counted;
        }

        /** Tell what he asks the storage for, and what he is answered. */
        void read(Told told) {
            Object[] all = new Object[entries];
            for (int i = 0; i < entries; i++) {
                all[i] = first + i;
            }
            told.add("asks", topic, ledger, first, all[entries - 1]);
            told.add("answers", number, all, new Object[entries]);
            told.counted += counted;
        }

        @Override
        public void accept(Object given) {
            handle = given;
            its.served.putIfAbsent(Scheduler.thread(), new ArrayList<>());
            its.served.get(Scheduler.thread()).add(this);
        }
    }

    /** An executor for later, which does its tasks when it is told to. */
    private static final class Later implements InvocationHandler {

        private final TreeMap<Long, Runnable> tasks = new TreeMap<>();

        @Override
        public Object invoke(Object proxy, Method method, Object[] a) {
            tasks.put(Held.wall + ((TimeUnit) a[2]).toMillis((Long) a[1]), (Runnable) a[0]);
            return null;
        }

        /** Take out the tasks that are due. */
        List<Runnable> due() {
            Map<Long, Runnable> due = tasks.headMap(Held.wall, true);
            List<Runnable> taken = new ArrayList<>(due.values());
            due.clear();
            return taken;
        }
    }
}
