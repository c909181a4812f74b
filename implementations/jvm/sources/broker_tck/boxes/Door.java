package broker_tck.boxes;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Storage and cursor as one tracker has them. Once it is shut behind the tracker, what it reads never comes. */
final class Door implements InvocationHandler {

    private static final String LEDGERS = "org.apache.bookkeeper.mledger.";
    private static final String NAME = "subscription";

    /** Whether its tracker recovers: all calls end as they are made. */
    boolean recovering = true;
    private final Durable durable;
    private final boolean down;
    private boolean shut;

    /** The cursor hands its properties to a recovery by ascending ranges, or by descending ones. */
    Door(Durable durable, boolean down) {
        this.durable = durable;
        this.down = down;
    }

    Object storage() throws Throwable {
        return proxy(Durable.DELAYED + "bucket.BucketSnapshotStorage");
    }

    Object cursor() throws Throwable {
        return proxy(LEDGERS + "ManagedCursor");
    }

    private Object proxy(String name) throws Throwable {
        Class<?> kind = Released.named(name);
        return Proxy.newProxyInstance(kind.getClassLoader(), new Class<?>[] {kind}, this);
    }

    void shut() {
        shut = true;
        for (Iterator<Durable.Call> each = durable.waiting.iterator(); each.hasNext(); ) {
            Durable.Call call = each.next();
            if (call.reads() && call.door == this) {
                each.remove();
            }
        }
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] a) throws Throwable {
        switch (method.getName()) {
            case "createBucketSnapshot":
                List<byte[]> written = written(a[0], (List<?>) a[1]);
                return begin("create:" + Durable.range((String) a[2]) + ":" + (written.size() - 1), written);
            case "getBucketSnapshotMetadata":
                return begin("load:" + a[0], a);
            case "getBucketSnapshotSegment":
                return begin("load:" + a[0] + ":" + a[1] + "-" + a[2], a);
            case "getBucketSnapshotLength":
                return CompletableFuture.completedFuture(0L);
            case "deleteBucketSnapshot":
                return begin("delete:" + a[0], a);
            case "putCursorProperty":
                return begin("put:" + Durable.range((String) a[0]) + "=" + a[1], a);
            case "removeCursorProperty":
                return begin("remove:" + Durable.range((String) a[0]), a);
            case "getCursorProperties":
                return durable.properties(down);
            case "getMarkDeletedPosition":
                return durable.mark;
            case "getManagedLedger":
                return proxy(LEDGERS + "ManagedLedger");
            case "getName":
                return NAME;
            default:
                throw new NoSuchMethodError(method.getName());
        }
    }

    /** Metadata, then segments. */
    private static List<byte[]> written(Object metadata, List<?> segments) throws Throwable {
        List<byte[]> written = new ArrayList<>();
        written.add((byte[]) Released.call(metadata, "toByteArray"));
        for (Object segment : segments) {
            written.add((byte[]) Released.call(segment, "toByteArray"));
        }
        return written;
    }

    private Object begin(String label, Object about) throws Throwable {
        Durable.Call call = new Durable.Call(this, label, about);
        if (shut && call.reads()) {
            return call.future;
        }
        if (recovering || durable.atOnce) {
            durable.end("complete", call);
        } else {
            durable.waiting.add(call);
        }
        return call.future;
    }
}
