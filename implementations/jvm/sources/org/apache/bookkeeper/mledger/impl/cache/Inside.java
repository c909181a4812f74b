package org.apache.bookkeeper.mledger.impl.cache;

/** What only a class of the same package may call. */
public class Inside {

    public static RangeCacheRemovalQueue queue(int maxRequeueCount, boolean extendTtl) {
        return new RangeCacheRemovalQueue(maxRequeueCount, extendTtl);
    }

    public static long entries(RangeCache cache) {
        return cache.getNumberOfEntries();
    }
}
