package broker_tck.boxes;

import java.util.Map;
import java.util.function.Consumer;

/** RangeCaches over one RangeCacheRemovalQueue, as they are since 4.2. */
public final class RangeCaches extends EntryCaches {

    private static final String CACHE = LEDGER + "impl.cache.RangeCache";

    private final Object queue;

    public RangeCaches(Map<String, Object> config) throws Throwable {
        int requeues = Values.number(config.get("max_requeue_count"));
        queue = Released.make(CACHE + "RemovalQueue", requeues, config.get("extend_ttl_of_recently_accessed"));
        open();
    }

    @Override
    Object cache() throws Throwable {
        return Released.make(CACHE, queue);
    }

    /** A cache is told the size; it does not ask the value. */
    @Override
    Object value(Object position, int size, int reads) throws Throwable {
        Object value = entry(position, buffer(0), reads);
        Released.call(value, "setDecreaseReadCountOnRelease", false);
        return value;
    }

    /** What an inserter refuses hands its read count to what is there. */
    @Override
    boolean insert(Object cache, Object position, Object value, int size) throws Throwable {
        if (!Released.has(cache, "newInserter")) {
            return (Boolean) Released.call(cache, "put", position, value, size);
        }
        Object inserter = Released.call(cache, "newInserter");
        boolean inserted = (Boolean) Released.call(inserter, "put", position, value, size);
        if (!inserted) {
            Object count = countOf(value);
            if ((Boolean) Released.call(inserter, "updateIfCached", position, new Taker(count))) {
                counted(cache, position, count);
            }
        }
        return inserted;
    }

    @Override
    Object evictOld(long than) throws Throwable {
        return removed(Released.call(queue, "evictLEntriesBeforeTimestamp", than));
    }

    @Override
    Object evictSize(long size) throws Throwable {
        return removed(Released.call(queue, "evictLeastAccessedEntries", size));
    }

    @Override
    Object more(String name, Object[] a) throws Throwable {
        switch (name) {
            case "pinned":
                return removed(Released.call(queue, "getNonEvictableSize"));
            case "requeues":
                return Released.call(queue, "setMaxRequeueCountWhenHasExpectedReads", Values.number(a[0]));
            case "extend":
                return Released.call(queue, "setExtendTTLOfRecentlyAccessed", (Long) a[0] > 0);
            default:
                return super.more(name, a);
        }
    }

    /** Gives a value another read count. */
    private static final class Taker implements Consumer<Object> {

        private final Object count;

        Taker(Object count) {
            this.count = count;
        }

        @Override
        public void accept(Object there) {
            try {
                Released.call(there, "updateExpectedReadCount", count);
            } catch (RuntimeException | Error error) {
                throw error;
            } catch (Throwable error) {
                throw new AssertionError(error);
            }
        }
    }
}
