package org.roaringbitmap;

import java.nio.ByteBuffer;

public class RoaringBitmap {
    public native void add(int number);

    public native int serializedSizeInBytes();

    public native void serialize(ByteBuffer bytes);

    public native void deserialize(ByteBuffer bytes);

    public native PeekableIntIterator getIntIterator();
}
