package broker_tck.boxes;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Storage and cursor of a bucket tracker: what is durable, and calls that wait until an operation ends them. */
final class Durable implements InvocationHandler {

    private static final String DELAYED = "org.apache.pulsar.broker.delayed.";
    private static final String LEDGERS = "org.apache.bookkeeper.mledger.";
    private static final String NAME = "subscription";

    boolean atOnce;
    Object mark;
    private final List<Call> waiting = new ArrayList<>();
    private final Map<Long, List<byte[]>> stored = new TreeMap<>();
    private final Map<String, String> properties = new LinkedHashMap<>();
    private long made;

    Object storage() throws Throwable {
        return proxy(DELAYED + "bucket.BucketSnapshotStorage");
    }

    Object cursor() throws Throwable {
        return proxy(LEDGERS + "ManagedCursor");
    }

    private Object proxy(String name) throws Throwable {
        Class<?> kind = Released.named(name);
        return Proxy.newProxyInstance(kind.getClassLoader(), new Class<?>[] {kind}, this);
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] a) throws Throwable {
        switch (method.getName()) {
            case "createBucketSnapshot":
                return begin("create:" + range((String) a[2]) + ":" + ((List<?>) a[1]).size(), written((List<?>) a[1]));
            case "getBucketSnapshotSegment":
                return begin("load:" + a[0] + ":" + a[1] + "-" + a[2], a);
            case "getBucketSnapshotLength":
                return CompletableFuture.completedFuture(0L);
            case "deleteBucketSnapshot":
                return begin("delete:" + a[0], a);
            case "putCursorProperty":
                return begin("put:" + range((String) a[0]) + "=" + a[1], a);
            case "removeCursorProperty":
                return begin("remove:" + range((String) a[0]), a);
            case "getCursorProperties":
                return new LinkedHashMap<>(properties);
            case "getMarkDeletedPosition":
                return mark;
            case "getManagedLedger":
                return proxy(LEDGERS + "ManagedLedger");
            case "getName":
                return NAME;
            default:
                throw new NoSuchMethodError(method.getName());
        }
    }

    /** The range in the key of a bucket's property. */
    private static String range(String key) {
        return key.substring(key.indexOf('_') + 1).replace('_', '-');
    }

    private static List<byte[]> written(List<?> segments) throws Throwable {
        List<byte[]> written = new ArrayList<>();
        for (Object segment : segments) {
            written.add((byte[]) Released.call(segment, "toByteArray"));
        }
        return written;
    }

    private Object begin(String label, Object about) throws Throwable {
        Call call = new Call(label, about);
        waiting.add(call);
        if (atOnce) {
            end("complete", waiting.size() - 1);
        }
        return call.future;
    }

    /** End a call that waits; answers with its label, or null if none waits. */
    Object end(String how, long which) throws Throwable {
        if (waiting.isEmpty()) {
            return null;
        }
        Call call = waiting.remove((int) (which % waiting.size()));
        Object outcome = how.equals("complete") || how.equals("stored") ? effect(call) : null;
        Throwable error = how.equals("complete") ? null : error(call, how.equals("conflict"));
        if (outcome instanceof Throwable || error != null) {
            call.future.completeExceptionally(error == null ? (Throwable) outcome : error);
        } else {
            call.future.complete(outcome);
        }
        return call.label;
    }

    @SuppressWarnings("unchecked")
    private Object effect(Call call) throws Throwable {
        Object[] a = call.about instanceof Object[] arguments ? arguments : null;
        switch (call.kind()) {
            case "create":
                stored.put(++made, (List<byte[]>) call.about);
                return made;
            case "load":
                List<byte[]> all = stored.get((Long) a[0]);
                return all == null
                    ? new CompletionException(failure(DELAYED + "bucket.BucketNotExistException", call.label))
                    : read(all.subList(Math.toIntExact((Long) a[1]) - 1, Math.toIntExact((Long) a[2])));
            case "delete":
                stored.remove((Long) a[0]);
                return null;
            case "put":
                properties.put((String) a[0], (String) a[1]);
                return null;
            default:
                properties.remove((String) a[0]);
                return null;
        }
    }

    private static List<Object> read(List<byte[]> segments) throws Throwable {
        List<Object> read = new ArrayList<>();
        for (byte[] segment : segments) {
            read.add(parsed(segment));
        }
        return read;
    }

    /** A segment, which is parsed by a method of its own, or by a static one. */
    private static Object parsed(byte[] segment) throws Throwable {
        String name = DELAYED + "proto.SnapshotSegment";
        try {
            Object made = Released.make(name);
            Released.call(made, "parseFrom", (Object) segment);
            return made;
        } catch (NoSuchMethodError before42) {
            return Released.callStatic(name, "parseFrom", (Object) segment);
        }
    }

    private static Throwable error(Call call, boolean conflict) throws Throwable {
        if (call.kind().equals("put") || call.kind().equals("remove")) {
            String kind = conflict ? "BadVersionException" : "MetaStoreException";
            return failure(LEDGERS + "ManagedLedgerException$" + kind, call.label);
        }
        return new CompletionException(failure(DELAYED + "bucket.BucketSnapshotPersistenceException", call.label));
    }

    private static Throwable failure(String name, String about) throws Throwable {
        return (Throwable) Released.make(name, about);
    }

    // ---- What is seen

    List<Object> numbers() {
        return new ArrayList<>(stored.keySet());
    }

    List<Object> labels() {
        List<Object> labels = new ArrayList<>();
        for (Call call : waiting) {
            labels.add(call.label);
        }
        return labels;
    }

    /** By the range of a bucket, the number of its snapshot. */
    Map<String, Object> keys() {
        Map<String, Object> keys = new LinkedHashMap<>();
        for (Map.Entry<String, String> each : properties.entrySet()) {
            keys.put(range(each.getKey()), each.getValue());
        }
        return keys;
    }

    /** A call that waits for its end. */
    private static final class Call {

        private final String label;
        private final Object about;
        private final CompletableFuture<Object> future = new CompletableFuture<>();

        Call(String label, Object about) {
            this.label = label;
            this.about = about;
        }

        String kind() {
            return label.substring(0, label.indexOf(':'));
        }
    }
}
