package broker_tck.boxes;

import broker_tck.Held;
import broker_tck.threads.Futures;
import broker_tck.threads.Scheduler;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.pulsar.broker.delayed.bucket.BucketDelayedDeliveryTracker;
import org.apache.pulsar.broker.delayed.bucket.Inside;

/** The broker's bucket tracker, one after another. Storage and cursor are the box's: a thread ends their calls. */
public final class Buckets extends DelayedDelivery {

    private static final String BUCKETS = "org.apache.pulsar.broker.delayed.bucket.";

    private final Map<String, Object> config;
    /** There before the tracker, so that it is not made here. */
    private Durable durable;
    /** That of the tracker. */
    private Door door;
    /** The ends of the trackers that were closed. */
    private final List<CompletableFuture<?>> closings = new ArrayList<>();

    public Buckets(Map<String, Object> config) throws Throwable {
        super(config);
        this.config = config;
    }

    @Override
    Object made(Map<String, Object> config) throws Throwable {
        if (durable == null) {
            durable = new Durable();
            Bytes.clear();
        }
        door = new Door(durable, "down".equals(config.get("key_order")));
        Object[] sizes = {
            config.get("min_index_count"), config.get("time_step"),
            Values.number(config.get("max_indexes")), Values.number(config.get("max_buckets"))};
        Object made = Released.make(
            BUCKETS + "BucketDelayedDeliveryTracker",
            dispatcher, wheel, config.get("tick"), Held.systemUTC(), config.get("strict"), door.storage(),
            sizes[0], sizes[1], sizes[2], sizes[3]);
        door.recovering = false;
        return made;
    }

    @Override
    public Object invoke(Object object, Method method, Object[] arguments) throws Throwable {
        return method.getName().equals("getCursor") ? door.cursor() : super.invoke(object, method, arguments);
    }

    @Override
    public Object call(String name, Object[] a) throws Throwable {
        switch (name) {
            case "complete":
            case "fail":
            case "conflict":
            case "stored":
                return durable.end(name, (Long) a[0]);
            case "storage":
                durable.atOnce = (Long) a[0] == 1;
                return null;
            case "mark":
                durable.mark = Positions.make(a[0], a[1]);
                return null;
            case "snapshots":
                return durable.numbers();
            case "reopen":
                return reopen();
            case "closing":
                return closing();
            default:
                return super.call(name, a);
        }
    }

    @Override
    Object dispatched(String name, Object[] a) throws Throwable {
        if (tracker == null) {
            return null;
        }
        switch (name) {
            case "contains":
                return ask("containsMessage", a[0], a[1]);
            case "clear":
                ask("clear");
                return null;
            default:
                return super.dispatched(name, a);
        }
    }

    /** Close the tracker, and have another one recover, in one go. Answers whether the close had ended at once. */
    private boolean reopen() throws Throwable {
        letGo();
        boolean ended = tracker == null || close();
        tracker = null;
        boolean whole = Scheduler.begin(true);
        try {
            tracker = made(config);
        } catch (Exception error) {
            throw reason(error);
        } finally {
            Scheduler.end(whole);
        }
        return ended;
    }

    /** Close the tracker; answers whether that has ended. Before 4.2 its end has come even if it has waited in vain. */
    private boolean close() throws Throwable {
        door.shut();
        if (!Released.has(tracker, "closeAsync")) {
            Futures.ranOut = false;
            ask("close");
            return !Futures.ranOut;
        }
        CompletableFuture<?> ended = (CompletableFuture<?>) ask("closeAsync");
        closings.add(ended);
        return ended.isDone();
    }

    /** How many of the closes have not ended. */
    private long closing() {
        long left = 0;
        for (CompletableFuture<?> each : closings) {
            left += each.isDone() ? 0 : 1;
        }
        return left;
    }

    /** Why a recovery has failed. */
    private static Throwable reason(Throwable error) {
        return error.getCause() == null ? error : reason(error.getCause());
    }

    @Override
    public Object[] seen() throws Throwable {
        if (tracker == null) {
            return new Object[6];
        }
        Object shared = Released.call(ask("getSharedBucketPriorityQueue"), "size");
        Object growing = Released.call(ask("getLastMutableBucket"), "size");
        return new Object[] {
            ask("getNumberOfDelayedMessages"), placed(), new Object[] {shared, growing},
            wheel.armed(), durable.labels(), durable.keys()};
    }

    private Object placed() {
        List<Object> rows = new ArrayList<>();
        String[] numbers = Inside.placed((BucketDelayedDeliveryTracker) tracker).split(" ");
        for (int i = 0; i + 3 < numbers.length; i += 4) {
            Object[] row = new Object[4];
            for (int j = 0; j < 4; j++) {
                row[j] = Long.valueOf(numbers[i + j]);
            }
            rows.add(row);
        }
        return rows;
    }
}
