package org.roaringbitmap;

public interface PeekableIntIterator extends IntIterator {}
