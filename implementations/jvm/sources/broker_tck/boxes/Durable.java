package broker_tck.boxes;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** What is durable of bucket trackers, and their calls to storage and cursor that wait until an operation ends them. */
final class Durable {

    static final String DELAYED = "org.apache.pulsar.broker.delayed.";
    private static final String LEDGERS = "org.apache.bookkeeper.mledger.";

    boolean atOnce;
    Object mark;
    final List<Call> waiting = new ArrayList<>();
    /** Of each snapshot its metadata, then its segments. */
    private final Map<Long, List<byte[]>> stored = new TreeMap<>();
    private final Map<String, String> properties = new LinkedHashMap<>();
    private long made;

    /** The range in the key of a bucket's property. */
    static String range(String key) {
        return key.substring(key.indexOf('_') + 1).replace('_', '-');
    }

    /** The properties by ranges, ascending or descending. */
    Map<String, String> properties(boolean down) {
        List<String> keys = new ArrayList<>();
        for (String key : properties.keySet()) {
            int at = 0;
            while (at < keys.size() && isBefore(keys.get(at), key) != down) {
                at++;
            }
            keys.add(at, key);
        }
        Map<String, String> ordered = new LinkedHashMap<>();
        for (String key : keys) {
            ordered.put(key, properties.get(key));
        }
        return ordered;
    }

    /** Ranges go by their first ledger, then by their last one. */
    private static boolean isBefore(String key, String other) {
        String[] one = range(key).split("-");
        String[] two = range(other).split("-");
        int first = Long.compare(Long.parseLong(one[0]), Long.parseLong(two[0]));
        return first < 0 || first == 0 && Long.parseLong(one[1]) < Long.parseLong(two[1]);
    }

    /** End a call that waits; answers with its label, or null if none waits. */
    Object end(String how, long which) throws Throwable {
        if (waiting.isEmpty()) {
            return null;
        }
        return end(how, waiting.remove((int) (which % waiting.size())));
    }

    /** End a call; answers with its label. */
    Object end(String how, Call call) throws Throwable {
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
                    : read(all, a);
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

    /** The metadata, or some segments. */
    private static Object read(List<byte[]> all, Object[] a) throws Throwable {
        if (a.length == 1) {
            return parsed("SnapshotMetadata", all.get(0));
        }
        List<Object> read = new ArrayList<>();
        for (byte[] segment : all.subList(Math.toIntExact((Long) a[1]), Math.toIntExact((Long) a[2]) + 1)) {
            read.add(parsed("SnapshotSegment", segment));
        }
        return read;
    }

    /** A message, which is parsed by a static method, or by one of its own, which answers with nothing. */
    private static Object parsed(String kind, byte[] written) throws Throwable {
        Object blank = Released.make(DELAYED + "proto." + kind);
        Object parsed = Released.call(blank, "parseFrom", (Object) written);
        return parsed == null ? blank : parsed;
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
    static final class Call {

        /** That of the tracker that has made it. */
        final Door door;
        final String label;
        final CompletableFuture<Object> future = new CompletableFuture<>();
        private final Object about;

        Call(Door door, String label, Object about) {
            this.door = door;
            this.label = label;
            this.about = about;
        }

        String kind() {
            return label.substring(0, label.indexOf(':'));
        }

        /** Whether it changes nothing. */
        boolean reads() {
            return kind().equals("load");
        }
    }
}
