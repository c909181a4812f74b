package org.apache.pulsar.common.util.collections;

import java.util.function.LongConsumer;

/** What Pulsar 5.0.1 calls of a bitmap. Its own is used instead if its pulsar-common can be had. */
public interface LongBitmap {

    boolean checkedAdd(long id);

    void add(long id);

    boolean contains(long id);

    boolean remove(long id);

    boolean isEmpty();

    long cardinality();

    long serializedSize();

    void or(LongBitmap other);

    void forEachLong(LongConsumer consumer);

    long drainTo(long most, LongConsumer consumer);

    byte[] serialize();
}
