package io.netty.util.internal;

public abstract class ObjectPool<T> {
    public interface Handle<T> {
        void recycle(T object);
    }
}
