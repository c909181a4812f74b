package io.netty.buffer;

import java.nio.ByteBuffer;

public abstract class ByteBuf {
    public abstract ByteBuffer nioBuffer();
}
