package broker_tck.boxes;

import broker_tck.Held;
import broker_tck.threads.Box;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Three RangeCaches of a broker, and what RangeEntryCacheImpl does around each. Their values are the broker's own. */
public abstract class EntryCaches implements Box, Runnable {

    static final String LEDGER = "org.apache.bookkeeper.mledger.";
    private static final String ENTRY = LEDGER + "impl.EntryImpl";
    private static final long MILLISECOND = 1_000_000;
    private static final Object[] NOTHING = {0L, 0L};

    final Object[] caches = new Object[3];
    private final Object[] left = new Object[caches.length];
    private final Deque<Object> held = new ArrayDeque<>();
    /** The value that was stored last under each key, which may be in use again since, and its read count. */
    private final Map<List<Object>, Object> stored = new HashMap<>();
    private final Map<List<Object>, Object> counts = new HashMap<>();
    /** How many values are not freed. */
    private long alive;

    /** Make all caches. */
    void open() throws Throwable {
        Held.monotonic = 0;
        for (int i = 0; i < caches.length; i++) {
            caches[i] = cache();
        }
    }

    abstract Object cache() throws Throwable;

    /** A position, as a caller makes it. */
    Object at(Object ledger, Object entry) throws Throwable {
        return Positions.make(ledger, entry);
    }

    /** A value of so many bytes, of which one reference is held. */
    abstract Object value(Object position, int size, int reads) throws Throwable;

    abstract boolean insert(Object cache, Object position, Object value, int size) throws Throwable;

    /** A time pass over what is older, in nanoseconds. */
    abstract Object evictOld(long than) throws Throwable;

    abstract Object evictSize(long size) throws Throwable;

    /** What only some releases have. */
    Object more(String name, Object[] a) throws Throwable {
        throw new NoSuchMethodError(name);
    }

    @Override
    public Object call(String name, Object[] a) throws Throwable {
        switch (name) {
            case "put":
                return put(caches[Values.number(a[0])], a);
            case "late":
                return late(a);
            case "misput":
                return misput(a);
            case "spoil":
                return spoil(a);
            case "fill":
                return fill(a);
            case "get":
                return found(a, get(a), true);
            case "hold":
                return found(a, get(a), false);
            case "free":
                return free();
            case "range":
                return range(a);
            case "read":
                return count(a, "markRead");
            case "expect":
                return count(a, "incrementExpectedReadCount");
            case "remove":
                return remove(
                    caches[Values.number(a[0])], Values.pair(a[1], a[2]), Values.pair(a[3], a[4]), (Long) a[5] > 0);
            case "invalidate":
                if ((Long) a[1] >= 0 || (Long) a[1] == -1 && (Long) a[2] >= 0) {
                    remove(caches[Values.number(a[0])], Values.pair(-1L, 0L), Values.pair(a[1], a[2]), false);
                }
                return null;
            case "trim":
                remove(caches[Values.number(a[0])], Values.pair(a[1], 0L), Values.pair((Long) a[1] + 1, 0L), false);
                return null;
            case "clear":
                return removed(Released.call(caches[Values.number(a[0])], "clear"));
            case "reopen":
                return reopen(Values.number(a[0]));
            case "ttl":
                return evictOld(Held.monotonic - (Long) a[0] * MILLISECOND);
            case "size":
                return evictSize((Long) a[0]);
            case "adv":
                Held.monotonic += (Long) a[0] * MILLISECOND;
                return null;
            default:
                return more(name, a);
        }
    }

    @Override
    public Object[] seen() throws Throwable {
        List<Object> sizes = new ArrayList<>();
        for (Object cache : caches) {
            sizes.add(Values.pair(Released.call(cache, "getNumberOfEntries"), Released.call(cache, "getSize")));
        }
        return new Object[] {sizes, alive};
    }

    /** A value is freed. */
    @Override
    public void run() {
        alive--;
    }

    // ---- Calls

    private Object late(Object[] a) throws Throwable {
        Object old = left[Values.number(a[0])];
        if (old == null) {
            return null;
        }
        return put(old, a);
    }

    private Object made(Object position, int size, int reads) throws Throwable {
        Object value = value(position, size, reads);
        Released.call(value, "onDeallocate", this);
        alive++;
        return value;
    }

    private boolean put(Object cache, Object[] a) throws Throwable {
        int size = Values.number(a[3]);
        Object position = at(a[1], a[2]);
        Object value = made(position, size, Values.number(a[4]));
        Object count = countOf(value);
        boolean inserted = insert(cache, position, value, size);
        if (inserted) {
            stored.put(Arrays.asList(cache, a[1], a[2]), value);
            counts.put(Arrays.asList(cache, a[1], a[2]), count);
        } else {
            Released.call(value, "release");
        }
        return inserted;
    }

    /** The value that is there has another read count from now on. */
    void counted(Object cache, Object position, Object count) throws Throwable {
        Object ledger = Released.call(position, "getLedgerId");
        counts.put(Arrays.asList(cache, ledger, Released.call(position, "getEntryId")), count);
    }

    static Object countOf(Object value) throws Throwable {
        return Released.has(value, "getReadCountHandler") ? Released.call(value, "getReadCountHandler") : null;
    }

    static Object buffer(int size) throws Throwable {
        return Released.callStatic("io.netty.buffer.Unpooled", "wrappedBuffer", new byte[size], 0, size);
    }

    private Object misput(Object[] a) throws Throwable {
        Object value = made(at(a[1], a[2]), 1, 0);
        try {
            return insert(caches[Values.number(a[0])], at(a[1], (Long) a[2] + 1), value, 1);
        } finally {
            Released.call(value, "release");
        }
    }

    private boolean spoil(Object[] a) throws Throwable {
        Object value = stored.get(Arrays.asList(caches[Values.number(a[0])], a[1], a[2]));
        boolean only = value != null && !held.contains(value) && Released.call(value, "refCnt").equals(1)
            && Released.call(value, "getLedgerId").equals(a[1]) && Released.call(value, "getEntryId").equals(a[2]);
        if (only) {
            Released.call(value, "release");
        }
        return only;
    }

    private long fill(Object[] a) throws Throwable {
        long inserted = 0;
        long across = (Long) a[4];
        for (long i = 0; i < (Long) a[3]; i++) {
            Object ledger = (Long) a[1] + i % across;
            Object entry = (Long) a[2] + i / across * (Long) a[5];
            Object size = (Long) a[6] + i * (Long) a[7];
            Object reads = (Long) a[8] - i % (Long) a[9];
            inserted += put(caches[Values.number(a[0])], new Object[] {a[0], ledger, entry, size, reads}) ? 1 : 0;
        }
        return inserted;
    }

    private Object get(Object[] a) throws Throwable {
        return Released.call(caches[Values.number(a[0])], "get", at(a[1], a[2]));
    }

    /** What a reader says of a value; another one than he asked for is none that he may get. */
    private Object found(Object[] a, Object value, boolean free) throws Throwable {
        if (value == null) {
            return "miss";
        }
        Object ledger = Released.call(value, "getLedgerId");
        Object entry = Released.call(value, "getEntryId");
        if (free) {
            Released.call(value, "release");
        } else {
            held.add(value);
        }
        if (ledger.equals(a[1]) && entry.equals(a[2])) {
            return "hit";
        }
        return "hit of " + ledger + " " + entry;
    }

    private boolean free() throws Throwable {
        Object value = held.poll();
        if (value != null) {
            Released.call(value, "release");
        }
        return value != null;
    }

    private Object range(Object[] a) throws Throwable {
        List<Object> positions = new ArrayList<>();
        if (refused(Values.pair(a[1], a[2]), Values.pair(a[3], a[4]))) {
            return positions;
        }
        Object first = at(a[1], a[2]);
        Object values = Released.call(caches[Values.number(a[0])], "getRange", first, at(a[3], a[4]));
        for (Object value : (Iterable<?>) values) {
            positions.add(Values.pair(Released.call(value, "getLedgerId"), Released.call(value, "getEntryId")));
            Released.call(value, "release");
        }
        return positions;
    }

    private Object count(Object[] a, String change) throws Throwable {
        Object count = counts.get(Arrays.asList(caches[Values.number(a[0])], a[1], a[2]));
        if (count == null) {
            return "none";
        }
        Released.call(count, change);
        return Released.call(count, "getExpectedReadCount");
    }

    private Object remove(Object cache, Object[] first, Object[] last, boolean inclusive) throws Throwable {
        if (refused(first, last)) {
            return NOTHING;
        }
        Object range = Released.call(cache, "removeRange", at(first[0], first[1]), at(last[0], last[1]), inclusive);
        return removed(range);
    }

    private Object reopen(int number) throws Throwable {
        left[number] = caches[number];
        Released.call(caches[number], "clear");
        caches[number] = cache();
        return null;
    }

    // ---- Values

    /** Callers of the caches refuse a range that ends before it begins. */
    private static boolean refused(Object[] first, Object[] last) {
        int ledgers = Long.compare((Long) first[0], (Long) last[0]);
        return ledgers > 0 || ledgers == 0 && (Long) first[1] > (Long) last[1];
    }

    /** Entries and bytes. */
    static Object[] removed(Object both) throws Throwable {
        return Values.pair(Released.call(both, "getLeft"), Released.call(both, "getRight"));
    }

    static Object entry(Object... arguments) throws Throwable {
        return Released.callStatic(ENTRY, "create", arguments);
    }
}
