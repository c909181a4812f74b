package org.apache.pulsar.common.allocator;

import io.netty.buffer.ByteBufAllocator;

/** The kit allocates, so that it sees which copies live. */
public class PulsarByteBufAllocator {

    public static ByteBufAllocator DEFAULT;

    public static ByteBufAllocator getOrCreate(String name) {
        return DEFAULT;
    }
}
