package broker_tck.boxes;

import io.netty.buffer.ByteBufAllocator;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;

/** What the broker allocates, which is all known here, so that what nobody lets go of is seen. */
public final class Bytes implements InvocationHandler {

    private static final List<Object> MADE = new ArrayList<>();

    /** What the broker allocates bytes by. */
    public static ByteBufAllocator allocator() {
        Class<?>[] kind = {ByteBufAllocator.class};
        return (ByteBufAllocator) Proxy.newProxyInstance(Bytes.class.getClassLoader(), kind, new Bytes());
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] sizes) throws Throwable {
        return made(Released.callStatic("io.netty.buffer.Unpooled", "buffer", sizes));
    }

    /** So many bytes, with room for one at least: Netty has one object for all buffers without room. */
    static Object of(int size) throws Throwable {
        Object bytes = Released.callStatic("io.netty.buffer.Unpooled", "buffer", Math.max(size, 1));
        return made(Released.call(bytes, "writerIndex", size));
    }

    private static Object made(Object bytes) {
        MADE.add(bytes);
        return bytes;
    }

    /** Forget all. */
    static void clear() {
        MADE.clear();
    }

    /** How many references there are of all together. */
    static long references() throws Throwable {
        long sum = 0;
        for (Object each : MADE) {
            sum += ((Number) Released.call(each, "refCnt")).longValue();
        }
        return sum;
    }
}
