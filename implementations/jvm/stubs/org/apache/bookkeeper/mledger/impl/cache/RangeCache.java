package org.apache.bookkeeper.mledger.impl.cache;

class RangeCache {
    protected native long getNumberOfEntries();
}
