package broker_tck.boxes;

import io.netty.buffer.ByteBufAllocator;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;

/** The bytes of entries, which are all known here, so that those are seen that nobody lets go of. */
public final class Bytes implements InvocationHandler {

    private static final List<Object> MADE = new ArrayList<>();

    /** What the broker allocates bytes by. */
    public static ByteBufAllocator allocator() {
        Class<?>[] kind = {ByteBufAllocator.class};
        return (ByteBufAllocator) Proxy.newProxyInstance(Bytes.class.getClassLoader(), kind, new Bytes());
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] a) throws Throwable {
        if (!method.getName().equals("directBuffer")) {
            throw new NoSuchMethodError(method.getName());
        }
        return made(Released.callStatic("io.netty.buffer.Unpooled", "buffer", a[0]));
    }

    /** So many bytes. */
    static Object of(int size) throws Throwable {
        return made(EntryCaches.buffer(size));
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
