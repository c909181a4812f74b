package broker_tck.boxes;

import broker_tck.Held;
import broker_tck.threads.Box;
import broker_tck.threads.Scheduler;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;

/**
 * A RangeEntryCacheImpl of one topic that reads, and what is around it: the managed ledger, its handles, the storage,
 * cursors and readers.
 */
public class PendingReads implements Box, InvocationHandler {

    private static final String IMPL = EntryCaches.LEDGER + "impl.";
    static final String CACHE = IMPL + "cache.";
    private static final String CLIENT = "org.apache.bookkeeper.client.";
    private static final int[] SIZES = {10, 30, 20, 40};

    final Object cache;
    private final Object entries;
    final Object ledger;
    final Object manager;
    private final Object config;
    private final Object counters;
    private final Object sample;
    private final Object limiter;
    private final Executor executor = new Executor();
    private final Object thread;
    private final Map<Object, Object> handles = new HashMap<>();
    /** Where each cursor is. */
    private final Map<Object, Object[]> cursors = new HashMap<>();
    /** What the storage was asked for, by ledger, entries and number. */
    private final TreeMap<List<Long>, CompletableFuture<Object>> asked = new TreeMap<>(new Ascending());
    /** The entries of those who hold some, by their numbers. */
    private final TreeMap<Long, List<?>> holding = new TreeMap<>();
    /** What happens, by the thread on which it does. */
    private final Map<Integer, Told> told = new HashMap<>();
    private final long[] hits = new long[4];
    private long readers;
    private long requests;

    public PendingReads(Map<String, Object> settings) throws Throwable {
        Bytes.clear();
        manager = StandIns.of(CACHE + "RangeEntryCacheManagerImpl", this);
        ledger = StandIns.of(IMPL + "ManagedLedgerImpl", this);
        config = StandIns.of(EntryCaches.LEDGER + "ManagedLedgerConfig", this);
        counters = StandIns.of(IMPL + "ManagedLedgerFactoryMBeanImpl", this);
        sample = StandIns.of(IMPL + "ManagedLedgerMBeanImpl", this);
        thread = of(Released.named(IMPL + "ManagedLedgerImpl").getMethod("getExecutor").getReturnType(), executor);
        Released.field(Released.named(CACHE + "RangeEntryCacheManagerImpl"), "mlFactoryMBean").set(manager, counters);
        Held.wall = 0;
        limiter = Released.makeWith(
            CACHE + "InflightReadsLimiter",
            settings.get("max_reads_in_flight"),
            Values.number(settings.get("acquire_queue")),
            settings.get("acquire_timeout"),
            of(ScheduledExecutorService.class, this),
            Released.callStatic("io.opentelemetry.api.OpenTelemetry", "noop"));
        cache = cache(settings);
        entries = Released.field(cache.getClass(), "entries").get(cache);
    }

    Object cache(Map<String, Object> settings) throws Throwable {
        int requeues = Values.number(settings.get("max_requeue_count"));
        Object extends_ = settings.get("extend_ttl_of_recently_accessed");
        Object queue = Released.make(CACHE + "RangeCacheRemovalQueue", requeues, extends_);
        Object length = Released.named(CACHE + "EntryLengthFunction").getField("DEFAULT").get(null);
        return Released.make(CACHE + "RangeEntryCacheImpl", manager, ledger, false, queue, length);
    }

    private static Object of(Class<?> kind, InvocationHandler handler) {
        return Proxy.newProxyInstance(PendingReads.class.getClassLoader(), new Class<?>[] {kind}, handler);
    }

    private static Object of(String kind, InvocationHandler handler) throws Throwable {
        return of(Released.named(kind), handler);
    }

    /** What the classes around the cache answer. */
    @Override
    public Object invoke(Object object, Method method, Object[] a) throws Throwable {
        switch (method.getName()) {
            case "getName":
                return "topic";
            case "getExecutor":
                return thread;
            case "getConfig":
                return config;
            case "getMbean":
                return sample;
            case "getMlFactoryMBean":
                return counters;
            case "getInflightReadsLimiter":
                return limiter;
            case "getOptionalLedgerInfo":
                return Optional.of(true);
            case "hasSpaceInCache":
                return true;
            case "getLastConfirmedEntry":
                return Positions.make(Long.MAX_VALUE, Long.MAX_VALUE);
            case "reopenReadHandle":
                return CompletableFuture.completedFuture(handle(a[0]));
            case "isBatchReadEnabled":
                return true;
            case "isPulsarMessageEntries":
                return false;
            case "recordCacheHits":
                return count(0, a);
            case "recordCacheMiss":
                return count(2, a);
            default:
                return null;
        }
    }

    private Object count(int at, Object[] a) {
        hits[at] += ((Number) a[0]).longValue();
        hits[at + 1] += ((Number) a[1]).longValue();
        return null;
    }

    @Override
    public Object call(String name, Object[] a) throws Throwable {
        switch (name) {
            case "cursor":
                cursors.put(a[1], new Object[] {a[2], a[3]});
                return null;
            case "permits":
                return Released.call(limiter, "getRemainingBytes");
            case "hits":
                return new Object[] {hits[0], hits[1], hits[2], hits[3]};
            default:
                told.put(Scheduler.thread(), new Told());
                act(name, a);
                executor.drain();
                return told.get(Scheduler.thread()).list();
        }
    }

    private void act(String name, Object[] a) throws Throwable {
        switch (name) {
            case "fetch":
                fetch(handle(a[2]), (Long) a[3], (Long) a[3] + (Long) a[4] - 1, a[1]);
                break;
            case "single":
                single(handle(a[1]), a[1], a[2]);
                break;
            case "complete":
                complete((Long) a[0]);
                break;
            case "fail":
                fail((Long) a[0], (Long) a[1]);
                break;
            case "done":
                done((Long) a[0]);
                break;
            default:
                throw new NoSuchMethodError(name);
        }
    }

    @Override
    public Object[] seen() throws Throwable {
        Object[] empty = Values.pair(0L, 0L);
        Object mine = Values.pair(Released.call(entries, "getNumberOfEntries"), Released.call(cache, "getSize"));
        return new Object[] {new Object[] {mine, empty, empty}, Bytes.references()};
    }

    // ---- Readers

    private void fetch(Object handle, long first, long last, Object cursor) throws Throwable {
        Object reader = of(EntryCaches.LEDGER + "AsyncCallbacks$ReadEntriesCallback", new Reader(this, ++readers));
        read(handle, first, last, new Start(this, cursor), reader);
    }

    /** Have somebody read a range, of whose entries as many reads are expected as a cursor says. */
    void read(Object handle, long first, long last, Start expected, Object reader) throws Throwable {
        Object start = of(IntSupplier.class, expected);
        if (Released.has(cache, "readAhead")) {
            Released.call(cache, "asyncReadEntry", handle, first, last, Long.MAX_VALUE, start, reader, null);
        } else {
            Released.call(cache, "asyncReadEntry", handle, first, last, start, reader, null);
        }
    }

    private void single(Object handle, Object in, Object entry) throws Throwable {
        Object reader = of(EntryCaches.LEDGER + "AsyncCallbacks$ReadEntryCallback", new Reader(this, ++readers));
        Released.call(cache, "asyncReadEntry", handle, Positions.make(in, entry), reader, null);
    }

    private void done(long i) throws Throwable {
        if (!holding.isEmpty()) {
            Long number = (Long) holding.keySet().toArray()[(int) (i % holding.size())];
            for (Object entry : holding.remove(number)) {
                Released.call(entry, "release");
            }
        }
    }

    private Told now() {
        return told.get(Scheduler.thread());
    }

    /** Somebody who reads. */
    private static final class Reader implements InvocationHandler {

        private final PendingReads its;
        private final long number;

        Reader(PendingReads its, long number) {
            this.its = its;
            this.number = number;
        }

        @Override
        public Object invoke(Object proxy, Method method, Object[] a) throws Throwable {
            switch (method.getName()) {
                case "readEntriesComplete":
                    answered((List<?>) a[0]);
                    break;
                case "readEntryComplete":
                    answered(List.of(a[0]));
                    break;
                case "hashCode":
                    return (int) number;
                case "toString":
                    return "reader " + number;
                default:
                    its.now().add("fails", number);
            }
            return null;
        }

        private void answered(List<?> entries) throws Throwable {
            List<Object> ids = new ArrayList<>();
            List<Object> counts = new ArrayList<>();
            for (Object entry : entries) {
                Object count = EntryCaches.countOf(entry);
                ids.add(Released.call(entry, "getEntryId"));
                counts.add(count == null ? null : Released.call(count, "getExpectedReadCount"));
            }
            its.holding.put(number, entries);
            its.now().add("answers", number, ids, counts);
        }
    }

    /** How many reads are expected of what a cursor reads: of those that are no further, itself included. */
    static final class Start implements InvocationHandler {

        private final PendingReads its;
        private final Object cursor;

        Start(PendingReads its, Object cursor) {
            this.its = its;
            this.cursor = cursor;
        }

        @Override
        public Object invoke(Object proxy, Method method, Object[] a) {
            return ask();
        }

        int ask() {
            its.now().counted++;
            Object[] at = its.cursors.get(cursor);
            int rank = 0;
            for (Object[] other : its.cursors.values()) {
                rank += at != null && Ascending.inOrder(other, at) <= 0 ? 1 : 0;
            }
            return rank;
        }
    }

    // ---- The storage

    private Object handle(Object in) throws Throwable {
        if (!handles.containsKey(in)) {
            handles.put(in, of(CLIENT + "api.ReadHandle", new Handle(this, (Long) in)));
        }
        return handles.get(in);
    }

    private CompletableFuture<Object> ask(long in, long first, long last) {
        CompletableFuture<Object> future = new CompletableFuture<>();
        asked.put(List.of(in, first, last, ++requests), future);
        now().add("asks", 0L, in, first, last);
        return future;
    }

    /** One of the storage's reads, to answer it; null if there is none. */
    private Map.Entry<List<Long>, CompletableFuture<Object>> taken(long i) {
        if (asked.isEmpty()) {
            return null;
        }
        List<Long> key = new ArrayList<>(asked.keySet()).get((int) (i % asked.size()));
        return Map.entry(key, asked.remove(key));
    }

    private void complete(long i) throws Throwable {
        Map.Entry<List<Long>, CompletableFuture<Object>> request = taken(i);
        if (request != null) {
            List<Object> found = new ArrayList<>();
            for (long entry = request.getKey().get(1); entry <= request.getKey().get(2); entry++) {
                int size = SIZES[(int) (entry % SIZES.length)];
                Object[] made = {request.getKey().get(0), entry, (long) size, Bytes.of(size)};
                found.add(Released.callStatic(CLIENT + "impl.LedgerEntryImpl", "create", made));
            }
            request.getValue().complete(Released.callStatic(CLIENT + "impl.LedgerEntriesImpl", "create", found));
        }
    }

    private void fail(long i, long kind) throws Throwable {
        Map.Entry<List<Long>, CompletableFuture<Object>> request = taken(i);
        if (request != null) {
            request.getValue().completeExceptionally((Throwable) error(kind));
        }
    }

    private static Object error(long kind) throws Throwable {
        if (kind == 2) {
            return Released.make(EntryCaches.LEDGER + "ManagedLedgerException$OffloadReadHandleClosedException");
        }
        String code = kind == 0 ? "TooManyRequestsException" : "ReadException";
        Object number = Released.named(CLIENT + "BKException$Code").getField(code).get(null);
        return Released.callStatic(CLIENT + "BKException", "create", number);
    }

    /** A handle of a ledger. */
    private static final class Handle implements InvocationHandler {

        private final PendingReads its;
        private final long in;

        Handle(PendingReads its, long in) {
            this.its = its;
            this.in = in;
        }

        @Override
        public Object invoke(Object proxy, Method method, Object[] a) {
            switch (method.getName()) {
                case "getId":
                    return in;
                case "getLength":
                    return 0L;
                case "getLastAddConfirmed":
                    return -1L;
                case "readAsync":
                case "readUnconfirmedAsync":
                    return its.ask(in, (Long) a[0], (Long) a[1]);
                case "batchReadUnconfirmedAsync":
                    return its.ask(in, (Long) a[0], (Long) a[0] + (Integer) a[1] - 1);
                default:
                    throw new NoSuchMethodError(method.getName());
            }
        }
    }

    // ---- The ledger's thread

    /**
     * What the managed ledger does its tasks by: one after the other, in the order in which they come. The thread that
     * hands over a task does it, after the rest of its call.
     */
    private static final class Executor implements InvocationHandler {

        private final List<Task> tasks = new ArrayList<>();

        @Override
        public Object invoke(Object proxy, Method method, Object[] a) {
            switch (method.getName()) {
                case "execute":
                    tasks.add(new Task(this, (Runnable) a[0]));
                    return null;
                case "executeOrRun":
                    if (!tasks.isEmpty() && tasks.get(0).runs && tasks.get(0).thread == Scheduler.thread()) {
                        ((Runnable) a[0]).run();
                    } else {
                        tasks.add(new Task(this, (Runnable) a[0]));
                    }
                    return null;
                default:
                    throw new NoSuchMethodError(method.getName());
            }
        }

        /** Do the tasks that came from this thread. */
        void drain() {
            for (Task task = mine(); task != null; task = mine()) {
                Scheduler.until(task);
                task.runs = true;
                try {
                    task.work.run();
                } finally {
                    tasks.remove(0);
                }
            }
        }

        private Task mine() {
            for (Task task : tasks) {
                if (task.thread == Scheduler.thread()) {
                    return task;
                }
            }
            return null;
        }
    }

    /** A task of the executor's. */
    private static final class Task implements BooleanSupplier {

        private final Executor its;
        private final Runnable work;
        private final int thread = Scheduler.thread();
        private boolean runs;

        Task(Executor its, Runnable work) {
            this.its = its;
            this.work = work;
        }

        /** Whether it is its turn. */
        @Override
        public boolean getAsBoolean() {
            return its.tasks.get(0) == this;
        }
    }

    /** Lists of numbers in ascending order. */
    private static final class Ascending implements Comparator<Object> {

        @Override
        public int compare(Object one, Object other) {
            return inOrder(((List<?>) one).toArray(), ((List<?>) other).toArray());
        }

        static int inOrder(Object[] one, Object[] other) {
            int order = 0;
            for (int i = 0; order == 0 && i < one.length; i++) {
                order = Long.compare((Long) one[i], (Long) other[i]);
            }
            return order;
        }
    }
}
