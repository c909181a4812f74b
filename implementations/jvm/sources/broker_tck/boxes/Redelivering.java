package broker_tck.boxes;

import broker_tck.Held;
import broker_tck.threads.Box;
import broker_tck.threads.Scheduler;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.pulsar.client.api.MessageId;
import org.apache.pulsar.client.impl.Application;
import org.apache.pulsar.client.impl.ConsumerBase;
import org.apache.pulsar.client.impl.StandInClient;
import org.apache.pulsar.client.impl.StandInConsumer;

/** What has a consumer redeliver messages. The consumer's application, its timer and its clocks are the box's. */
public abstract class Redelivering implements Box, Application {

    static final String API = "org.apache.pulsar.client.api.";
    static final String CLIENT = "org.apache.pulsar.client.impl.";
    static final long MILLISECOND = Wheel.MILLISECOND;
    static final int NO_PARTITION = -1;

    final StandInClient client = (StandInClient) Released.blank(StandInClient.class);
    final StandInConsumer consumer = (StandInConsumer) Released.blank(StandInConsumer.class);
    final Wheel wheel;
    /** By how many milliseconds the wall clock is ahead. */
    long ahead;
    private final Object chunks;
    /** What each thread has sent since it last told it. */
    private final Map<Integer, List<Sent>> sent = new HashMap<>();
    private List<Object[]> inside = new ArrayList<>();
    private boolean failing;

    Redelivering(Map<String, Object> config, long grain) throws Throwable {
        wheel = new Wheel((Long) config.get("clock") * MILLISECOND, grain);
        tell();
        client.itsTimer = wheel;
        consumer.itsClient = client;
        consumer.application = this;
        Field field = Released.field(ConsumerBase.class, "unAckedChunkedMessageIdSequenceMap");
        chunks = chunkMap(field.getType());
        field.set(consumer, chunks);
    }

    private static Object chunkMap(Class<?> kind) throws Throwable {
        if (kind.isInterface()) {
            return new ConcurrentHashMap<>();
        }
        return Released.call(Released.callStatic(kind.getName(), "newBuilder"), "build");
    }

    /** What a box does besides. */
    abstract Object more(String name, Object[] a) throws Throwable;

    /** The call that is made inside of a callback, as operation "inside" names it. */
    abstract Object[] inner(Object[] a);

    /** An id as the callback's result tells it. */
    abstract Object[] told(MessageId id) throws Throwable;

    /** What was requested, as a result tells it. */
    abstract Object requests(Sent of);

    abstract void close() throws Throwable;

    @Override
    public Object call(String name, Object[] a) throws Throwable {
        switch (name) {
            case "adv":
                return advance((Long) a[0] * MILLISECOND);
            case "stale":
                wheel.stale();
                return told();
            case "fail":
                failing = true;
                return null;
            case "inside":
                inside.add(inner(a));
                return null;
            case "close":
                close();
                return null;
            default:
                return more(name, a);
        }
    }

    // ---- Time

    private Object advance(long by) throws Throwable {
        long until = wheel.now + by;
        for (Wheel.Armed due = wheel.due(until); due != null; due = wheel.due(until)) {
            tell();
            fire(due);
        }
        wheel.now = Math.max(wheel.now, until);
        tell();
        return told();
    }

    private static void fire(Wheel.Armed due) throws Throwable {
        try {
            due.fire();
        } catch (Failed failed) {
            // as a timer's thread, which goes on
        }
    }

    /** Have the clocks show the time. */
    void tell() {
        Held.monotonic = wheel.now;
        Held.wall = Math.floorDiv(wheel.now, MILLISECOND) + ahead;
    }

    // ---- The application

    private List<Sent> mine() {
        sent.putIfAbsent(Scheduler.thread(), new ArrayList<>());
        return sent.get(Scheduler.thread());
    }

    @Override
    public void send(Set<MessageId> ids) {
        try {
            mine().add(new Sent(-Math.floorDiv(-wheel.now, MILLISECOND), list(ids)));
            List<Object[]> inner = inside;
            inside = new ArrayList<>();
            for (Object[] each : inner) {
                Object[] arguments = new Object[each.length - 1];
                System.arraycopy(each, 1, arguments, 0, arguments.length);
                call((String) each[0], arguments);
            }
        } catch (RuntimeException | Error error) {
            throw error;
        } catch (Throwable error) {
            throw new IllegalStateException(error);
        }
    }

    @Override
    public void request(Set<MessageId> ids) {
        List<Sent> mine = mine();
        Sent last = mine.get(mine.size() - 1);
        if (failing) {
            failing = false;
            last.failed = true;
            throw new Failed();
        }
        last.requests.add(list(ids));
    }

    List<Object> list(Set<MessageId> ids) {
        try {
            List<Object[]> told = new ArrayList<>();
            for (MessageId id : ids) {
                told.add(told(id));
            }
            return Values.sorted(told);
        } catch (Throwable error) {
            throw new IllegalStateException(error);
        }
    }

    private Object told() {
        List<Object> told = new ArrayList<>();
        for (Sent each : mine()) {
            told.add(new Object[] {each.at, each.ids, requests(each)});
        }
        mine().clear();
        return told;
    }

    /** What the application was called with, and the requests after it. */
    static final class Sent {

        final long at;
        final List<Object> ids;
        final List<List<Object>> requests = new ArrayList<>();
        boolean failed;

        Sent(long at, List<Object> ids) {
            this.at = at;
            this.ids = ids;
        }
    }

    private static final class Failed extends RuntimeException {}

    // ---- What trackers are given

    static Object id(Object ledger, Object entry) throws Throwable {
        return Released.make(CLIENT + "MessageIdImpl", ledger, entry, NO_PARTITION);
    }

    static Object inBatch(Object ledger, Object entry, Object index) throws Throwable {
        return Released.make(CLIENT + "BatchMessageIdImpl", ledger, entry, NO_PARTITION, Values.number(index));
    }

    /** The id of a message in chunks, which the consumer has noted. */
    Object chunked(long ledger, long entry, long number, long apart) throws Throwable {
        Object each = Array.newInstance(Released.named(CLIENT + "MessageIdImpl"), (int) number);
        for (int i = 0; i < number; i++) {
            Array.set(each, i, id(ledger, entry - (number - 1 - i) * apart));
        }
        Object last = Array.get(each, (int) number - 1);
        Object id = Released.make(CLIENT + "ChunkMessageIdImpl", Array.get(each, 0), last);
        Released.call(chunks, "put", id, each);
        return id;
    }

    void forgetChunks() throws Throwable {
        Released.call(chunks, "clear");
    }

    /** A backoff that has a delay for each count, the last one for all above. */
    static Object backoff(Object delays) throws Throwable {
        Class<?> face = Released.named(API + "RedeliveryBackoff");
        return Proxy.newProxyInstance(face.getClassLoader(), new Class<?>[] {face}, new Delays((Object[]) delays));
    }

    private static final class Delays implements InvocationHandler {

        private final Object[] delays;

        Delays(Object[] delays) {
            this.delays = delays;
        }

        @Override
        public Object invoke(Object proxy, Method next, Object[] count) {
            return delays[Math.min((Integer) count[0], delays.length - 1)];
        }
    }
}
