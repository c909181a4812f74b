package com.google.common.collect;

public class Range<C extends Comparable> {
    public native C lowerEndpoint();

    public native C upperEndpoint();
}
