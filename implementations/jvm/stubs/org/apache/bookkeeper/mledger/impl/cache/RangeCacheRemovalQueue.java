package org.apache.bookkeeper.mledger.impl.cache;

class RangeCacheRemovalQueue {
    RangeCacheRemovalQueue(int maxRequeueCount, boolean extendTtl) {}
}
