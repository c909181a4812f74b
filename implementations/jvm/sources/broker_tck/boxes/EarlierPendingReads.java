package broker_tck.boxes;

import java.util.Map;

/** The same before 4.2: a cache evicts for itself, and is told with a read whether its answer is to be cached. */
public final class EarlierPendingReads extends PendingReads {

    public EarlierPendingReads(Map<String, Object> settings) throws Throwable {
        super(settings);
    }

    @Override
    Object cache(Map<String, Object> settings) throws Throwable {
        return Released.make(CACHE + "RangeEntryCacheImpl", manager, ledger, false);
    }

    @Override
    void read(Object handle, long first, long last, Start expected, Object reader) throws Throwable {
        Released.call(cache, "asyncReadEntry", handle, first, last, expected.ask() > 0, reader, null);
    }
}
