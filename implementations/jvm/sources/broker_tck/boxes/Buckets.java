package broker_tck.boxes;

import broker_tck.Held;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.pulsar.broker.delayed.bucket.BucketDelayedDeliveryTracker;
import org.apache.pulsar.broker.delayed.bucket.Inside;

/** The broker's bucket tracker. Its storage and its cursor are the box's: a thread ends their calls. */
public final class Buckets extends DelayedDelivery {

    private static final String BUCKETS = "org.apache.pulsar.broker.delayed.bucket.";

    /** There before the tracker, so that it is not made here. */
    private Durable durable;

    public Buckets(Map<String, Object> config) throws Throwable {
        super(config);
    }

    @Override
    Object made(Map<String, Object> config) throws Throwable {
        durable = new Durable();
        Bytes.clear();
        Object[] sizes = {
            config.get("min_index_count"), config.get("time_step"),
            Values.number(config.get("max_indexes")), Values.number(config.get("max_buckets"))};
        return Released.make(
            BUCKETS + "BucketDelayedDeliveryTracker",
            dispatcher, wheel, config.get("tick"), Held.systemUTC(), config.get("strict"), durable.storage(),
            sizes[0], sizes[1], sizes[2], sizes[3]);
    }

    @Override
    public Object invoke(Object object, Method method, Object[] arguments) throws Throwable {
        return method.getName().equals("getCursor") ? durable.cursor() : super.invoke(object, method, arguments);
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
            default:
                return super.call(name, a);
        }
    }

    @Override
    Object dispatched(String name, Object[] a) throws Throwable {
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

    @Override
    public Object[] seen() throws Throwable {
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
