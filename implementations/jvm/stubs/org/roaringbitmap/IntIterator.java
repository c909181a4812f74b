package org.roaringbitmap;

public interface IntIterator {
    boolean hasNext();

    int next();
}
