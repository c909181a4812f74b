package broker_tck.boxes;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** RangeCaches before 4.1, each of which evicts for itself. Passes for so many bytes are of the first cache. */
public final class EarlierRangeCaches extends EntryCaches {

    private static final String CACHE = LEDGER + "util.RangeCache";

    /** Whether an entry is found only by the object that it was stored under, as before PR 23903; null: not known yet. */
    private static Boolean byObject;
    private final Map<List<Object>, Object> positions = new HashMap<>();

    public EarlierRangeCaches(Map<String, Object> config) throws Throwable {
        if (byObject == null) {
            byObject = byObject();
        }
        open();
    }

    /** Ask a cache that is not used again, with what is in it, so that nothing of it goes back to a pool. */
    private boolean byObject() throws Throwable {
        Object cache = cache();
        Object position = super.at(0L, 0L);
        insert(cache, position, value(position, 1, 0), 1);
        return Released.call(cache, "get", super.at(0L, 0L)) == null;
    }

    @Override
    Object cache() throws Throwable {
        return Released.make(CACHE, asked("Weighter", "getLength"), asked("TimestampExtractor", "getTimestamp"));
    }

    @Override
    Object at(Object ledger, Object entry) throws Throwable {
        if (!byObject) {
            return super.at(ledger, entry);
        }
        List<Object> both = Arrays.asList(ledger, entry);
        if (!positions.containsKey(both)) {
            positions.put(both, super.at(ledger, entry));
        }
        return positions.get(both);
    }

    private static Object asked(String kind, String method) throws Throwable {
        Class<?> face = Released.named(CACHE + "$" + kind);
        return Proxy.newProxyInstance(face.getClassLoader(), new Class<?>[] {face}, new Asked(method));
    }

    @Override
    Object value(Object position, int size, int reads) throws Throwable {
        return entry(position, buffer(size));
    }

    @Override
    boolean insert(Object cache, Object position, Object value, int size) throws Throwable {
        return (Boolean) Released.call(cache, "put", position, value);
    }

    @Override
    Object evictOld(long than) throws Throwable {
        long entries = 0;
        long bytes = 0;
        for (Object cache : caches) {
            Object[] old = removed(Released.call(cache, "evictLEntriesBeforeTimestamp", than));
            entries += ((Number) old[0]).longValue();
            bytes += ((Number) old[1]).longValue();
        }
        return Values.pair(entries, bytes);
    }

    @Override
    Object evictSize(long size) throws Throwable {
        return removed(Released.call(caches[0], "evictLeastAccessedEntries", size));
    }

    /** Asks a value for a number. */
    private static final class Asked implements InvocationHandler {

        private final String method;

        Asked(String method) {
            this.method = method;
        }

        @Override
        public Object invoke(Object proxy, Method called, Object[] values) throws Throwable {
            return ((Number) Released.call(values[0], method)).longValue();
        }
    }
}
