package broker_tck.boxes;

import broker_tck.Held;
import broker_tck.threads.Box;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;

/** A RangeEntryCacheManagerImpl with the caches of three topics, and what is around it: ledgers and an executor. */
public final class CacheManager implements Box, InvocationHandler {

    private static final String IMPL = EntryCaches.LEDGER + "impl.";
    private static final String CACHE = IMPL + "cache.";
    private static final long MILLISECOND = 1_000_000;

    private final Object manager;
    private final long ttl;
    private final Object[] ledgers = new Object[3];
    private final Object[] caches = new Object[ledgers.length];
    /** The passes that the manager has ordered. */
    private final Deque<Runnable> ordered = new ArrayDeque<>();
    private final long[] counted = new long[3];

    public CacheManager(Map<String, Object> config) throws Throwable {
        Bytes.clear();
        Held.monotonic = 0;
        ttl = (Long) config.get("ttl") * MILLISECOND;
        Object telemetry = Released.callStatic("io.opentelemetry.api.OpenTelemetry", "noop");
        manager = Released.makeWith(CACHE + "RangeEntryCacheManagerImpl", factory(config), telemetry);
        for (int i = 0; i < caches.length; i++) {
            ledgers[i] = StandIns.of(IMPL + "ManagedLedgerImpl", new Ledger(name(i)));
            caches[i] = opened(i);
        }
    }

    private static Object settings(Map<String, Object> config) throws Throwable {
        Object settings = Released.make(EntryCaches.LEDGER + "ManagedLedgerFactoryConfig");
        Object largest = config.get("max_size");
        Released.call(settings, "setMaxCacheSize", largest == null ? Long.MAX_VALUE : largest);
        Released.call(settings, "setCacheEvictionWatermark", (Long) config.get("watermark") / 100.0);
        String extend = "setCacheEvictionExtendTTLOf";
        if (Released.has(settings, extend + "RecentlyAccessed")) {
            Object accessed = config.get("extend_ttl_of_recently_accessed");
            Released.call(settings, extend + "RecentlyAccessed", accessed);
            int requeues = Values.number(config.get("max_requeue_count"));
            Released.call(settings, extend + "EntriesWithRemainingExpectedReadsMaxTimes", requeues);
        }
        return settings;
    }

    /** A factory whose constructor was not run, as it needs a whole client of the storage. It has what is set here. */
    private Object factory(Map<String, Object> config) throws Throwable {
        Class<?> kind = Released.named(IMPL + "ManagedLedgerFactoryImpl");
        Object factory = Released.blank(kind);
        Object later = Proxy.newProxyInstance(
            CacheManager.class.getClassLoader(), new Class<?>[] {ScheduledExecutorService.class}, this);
        Released.field(kind, "config").set(factory, settings(config));
        Released.field(kind, "mbean").set(factory, StandIns.of(IMPL + "ManagedLedgerFactoryMBeanImpl", this));
        Released.field(kind, "cacheEvictionExecutor").set(factory, later);
        Released.field(kind, "cacheEvictionTimeThresholdNanos").set(factory, ttl);
        String before42 = "org.apache.bookkeeper.common.util.OrderedScheduler";
        Released.field(kind, "scheduledExecutor").set(factory, StandIns.of(before42, this));
        return factory;
    }

    /** What the executor and the counters around the manager do. */
    @Override
    public Object invoke(Object object, Method method, Object[] a) {
        switch (method.getName()) {
            case "execute":
                ordered.add((Runnable) a[0]);
                return null;
            case "recordCacheInsertion":
                counted[0]++;
                return null;
            case "recordNumberOfCacheEntriesEvicted":
                counted[1] += (Integer) a[0];
                return null;
            case "recordCacheEviction":
                counted[2]++;
                return null;
            default:
                throw new NoSuchMethodError(method.getName());
        }
    }

    @Override
    public Object call(String name, Object[] a) throws Throwable {
        switch (name) {
            case "put":
                return put(caches[Values.number(a[0])], a);
            case "get":
                return get(caches[Values.number(a[0])], a);
            case "invalidate":
                Released.call(caches[Values.number(a[0])], "invalidateEntries", Positions.make(a[1], a[2]));
                return null;
            case "trim":
                Released.call(caches[Values.number(a[0])], "invalidateAllEntries", a[1]);
                return null;
            case "reopen":
                Released.call(manager, "removeEntryCache", name(Values.number(a[0])));
                caches[Values.number(a[0])] = opened(Values.number(a[0]));
                return null;
            case "background":
                return background();
            case "run":
                run();
                return null;
            case "adv":
                Held.monotonic += (Long) a[0] * MILLISECOND;
                return null;
            case "total":
                return Released.call(manager, "getSize");
            case "counters":
                return new Object[] {counted[0], counted[1], counted[2]};
            case "pinned":
                return EntryCaches.removed(Released.call(manager, "getNonEvictableSize"));
            default:
                throw new NoSuchMethodError(name);
        }
    }

    @Override
    public Object[] seen() throws Throwable {
        List<Object> sizes = new ArrayList<>();
        for (Object cache : caches) {
            sizes.add(Values.pair(number(entries(cache)), Released.call(cache, "getSize")));
        }
        return new Object[] {sizes, Bytes.references()};
    }

    private static String name(int topic) {
        return "topic " + topic;
    }

    private Object opened(int topic) throws Throwable {
        return Released.call(manager, "getEntryCache", ledgers[topic]);
    }

    /** Since 5.0 each thread has an inserter. That of entries that a topic adds is for one thread: none uses it. */
    private static boolean put(Object cache, Object[] a) throws Throwable {
        Object position = Positions.make(a[1], a[2]);
        Object value = value(position, Bytes.of(Values.number(a[3])), Values.number(a[4]));
        try {
            if (Released.has(entries(cache), "newInserter")) {
                return Released.call(cache, "insert", Collections.singletonList(value), false).equals(1);
            }
            return (Boolean) Released.call(cache, "insert", value);
        } finally {
            Released.call(value, "release");
        }
    }

    /** A value. Its release does not count as a read; before 4.2 no reads are counted. */
    private static Object value(Object position, Object bytes, int reads) throws Throwable {
        Object value;
        try {
            value = EntryCaches.entry(position, bytes, reads);
            Released.call(value, "setDecreaseReadCountOnRelease", false);
        } catch (NoSuchMethodError before42) {
            value = EntryCaches.entry(position, bytes);
        }
        Released.call(bytes, "release");
        return value;
    }

    private String get(Object cache, Object[] a) throws Throwable {
        Object value = found(entries(cache), Positions.make(a[1], a[2]));
        if (value == null) {
            return "miss";
        }
        Object[] of = (Object[]) Positions.read(value);
        Released.call(value, "release");
        return of[0].equals(a[1]) && of[1].equals(a[2]) ? "hit" : "hit of " + of[0] + " " + of[1];
    }

    /** Before 4.2 a range of one is read: from 3.0.7 to 4.0.1 an entry is found alone only by its own position. */
    private Object found(Object entries, Object position) throws Throwable {
        if (Released.has(manager, "doCacheEviction")) {
            return Released.call(entries, "get", position);
        }
        Iterator<?> range = ((Iterable<?>) Released.call(entries, "getRange", position, position)).iterator();
        return range.hasNext() ? range.next() : null;
    }

    /** The passes that were ordered are made; answers with their number. */
    private long background() {
        long done = 0;
        for (Runnable pass = ordered.poll(); pass != null; pass = ordered.poll()) {
            pass.run();
            done++;
        }
        return done;
    }

    /** Before 4.2 the scheduled run asks each ledger to have its cache evict for itself. */
    private void run() throws Throwable {
        if (Released.has(manager, "doCacheEviction")) {
            Released.call(manager, "doCacheEviction");
            return;
        }
        for (Object cache : caches.clone()) {
            Released.call(cache, "invalidateEntriesBeforeTimestamp", Held.monotonic - ttl);
        }
    }

    private static Object entries(Object cache) throws Throwable {
        return Released.field(cache.getClass(), "entries").get(cache);
    }

    private static Object number(Object entries) throws Throwable {
        return ((Number) Released.call(entries, "getNumberOfEntries")).longValue();
    }

    /** The managed ledger of a topic. */
    private static final class Ledger implements InvocationHandler {

        private final String name;

        Ledger(String name) {
            this.name = name;
        }

        @Override
        public Object invoke(Object object, Method method, Object[] a) throws Throwable {
            switch (method.getName()) {
                case "getName":
                    return name;
                case "getConfig":
                    return Released.make(EntryCaches.LEDGER + "ManagedLedgerConfig");
                default:
                    return null;
            }
        }
    }
}
