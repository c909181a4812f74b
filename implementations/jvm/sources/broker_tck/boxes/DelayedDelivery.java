package broker_tck.boxes;

import broker_tck.Held;
import broker_tck.threads.Box;
import broker_tck.threads.Scheduler;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The broker's in-memory tracker, or one that is made as it is. Its dispatcher makes most calls with its own monitor held.
 * The timer does not hold it, nor does who closes a tracker that the dispatcher has let go of.
 */
public class DelayedDelivery implements Box, InvocationHandler {

    private static final String IN_MEMORY = "org.apache.pulsar.broker.delayed.InMemoryDelayedDeliveryTracker";
    private static final String DISPATCHERS = "org.apache.pulsar.broker.service.persistent.";
    private static final String NAME = "topic / subscription";
    private static final String CLEAR = "clear";
    private static final String MEMORY = "memory";
    /** What a dispatcher of this release calls without its monitor. */
    private static final Set<String> FREE = new HashSet<>();

    static {
        if (!synchronizes("clearDelayedMessages")) {
            FREE.add(CLEAR);
        }
        if (!synchronizes("getDelayedTrackerMemoryUsage")) {
            FREE.add(MEMORY);
        }
    }

    final Object dispatcher;
    final Wheel wheel;
    /** The tracker; null if there is none. */
    Object tracker;
    /** Of each thread, whether the dispatcher was asked for a read since the timer fired there. */
    private final Map<Integer, Boolean> asked = new HashMap<>();

    public DelayedDelivery(Map<String, Object> config) throws Throwable {
        dispatcher = Released.blank(kind());
        dispatcher.getClass().getField("handler").set(dispatcher, this);
        wheel = new Wheel((Long) config.get("clock") * Wheel.MILLISECOND, Wheel.MILLISECOND);
        tell();
        tracker = made(config);
    }

    /** Make the tracker. */
    Object made(Map<String, Object> config) throws Throwable {
        Object[] settings = {config.get("tick"), config.get("strict"), config.get("lookahead")};
        return Released.make(
            (String) config.getOrDefault("class", IN_MEMORY),
            dispatcher, wheel, settings[0], Held.systemUTC(), settings[1], settings[2]);
    }

    /** Whether the dispatcher of the release holds its monitor in a method. */
    private static boolean synchronizes(String method) {
        try {
            Class<?> kind = Released.named(DISPATCHERS + "PersistentDispatcherMultipleConsumers");
            return Modifier.isSynchronized(kind.getMethod(method).getModifiers());
        } catch (ReflectiveOperationException error) {
            throw new LinkageError(method, error);
        }
    }

    /** The dispatcher's class, which answers by a handler. */
    private static Class<?> kind() throws ClassNotFoundException {
        try {
            return Released.named(DISPATCHERS + "AbstractPersistentDispatcherMultipleConsumers$StandIn");
        } catch (ClassNotFoundException before40) {
            return Released.named(DISPATCHERS + "PersistentDispatcherMultipleConsumers$StandIn");
        }
    }

    /** What the dispatcher is asked for: to read, or for names. */
    @Override
    public Object invoke(Object object, Method method, Object[] arguments) throws Throwable {
        if (method.getName().startsWith("read")) {
            asked.put(Scheduler.thread(), true);
        }
        Class<?> kind = method.getReturnType();
        if (kind.isInterface()) {
            return Proxy.newProxyInstance(kind.getClassLoader(), new Class<?>[] {kind}, this);
        }
        if (kind == String.class) {
            return NAME;
        }
        return null;
    }

    @Override
    public Object call(String name, Object[] a) throws Throwable {
        switch (name) {
            case "adv":
                return advance((Long) a[0] * Wheel.MILLISECOND);
            case "stale":
                asked.remove(Scheduler.thread());
                wheel.stale();
                return asked.containsKey(Scheduler.thread());
            case "jump":
                wheel.jump((Long) a[0] * Wheel.MILLISECOND);
                tell();
                return null;
            case "close":
                letGo();
                return ask("close");
            default:
                return FREE.contains(name) ? dispatched(name, a) : locked(name, a);
        }
    }

    /** Take the dispatcher's monitor. */
    private void enter(int site) {
        Scheduler.point(site);
        Scheduler.enter(dispatcher);
    }

    /** Have the dispatcher let go of its tracker: whoever closes it comes after all calls of the dispatcher's. */
    final void letGo() {
        enter(Scheduler.ENTERS);
        Scheduler.exit(dispatcher);
    }

    private Object locked(String name, Object[] a) throws Throwable {
        enter(Scheduler.ENTERS);
        try {
            return dispatched(name, a);
        } finally {
            Scheduler.exit(dispatcher);
        }
    }

    Object dispatched(String name, Object[] a) throws Throwable {
        switch (name) {
            case "add":
                return ask("addMessage", a[0], a[1], a[2]);
            case "fill":
                return fill(a);
            case "has":
                return ask("hasMessageAvailable");
            case "get":
                return positions(ask("getScheduledMessages", Values.number(a[0])));
            case "pause":
                return ask("shouldPauseAllDeliveries");
            case "tick":
                return ask("resetTickTime", a[0]);
            case MEMORY:
                return ask("getBufferMemoryUsage");
            case CLEAR:
                return Released.call(ask("clear"), "join");
            default:
                throw new NoSuchMethodError(name);
        }
    }

    final Object ask(String name, Object... arguments) throws Throwable {
        return Released.call(tracker, name, arguments);
    }

    private long fill(Object[] a) throws Throwable {
        long taken = 0;
        for (long i = 0; i < (Long) a[3]; i++) {
            Object entry = (Long) a[1] + i * (Long) a[2];
            taken += (Boolean) ask("addMessage", a[0], entry, (Long) a[4] + i * (Long) a[5]) ? 1 : 0;
        }
        return taken;
    }

    private static Object positions(Object found) throws Throwable {
        List<Object> positions = new ArrayList<>();
        for (Object position : (Iterable<?>) found) {
            positions.add(Positions.read(position));
        }
        return positions;
    }

    private Object advance(long by) throws Throwable {
        long until = wheel.now + by;
        List<Object> times = new ArrayList<>();
        for (Wheel.Armed due = expired(until); due != null; due = expired(until)) {
            asked.remove(Scheduler.thread());
            Object at = Held.wall;
            due.fire();
            if (asked.containsKey(Scheduler.thread())) {
                times.add(at);
            }
        }
        return times;
    }

    /** Let time pass to the next timeout, which expires, or to the end. It stands still for what holds the monitor. */
    private Wheel.Armed expired(long until) {
        enter(Scheduler.GOES_ON);
        Wheel.Armed due = wheel.due(until);
        if (due == null) {
            wheel.now = Math.max(wheel.now, until);
        }
        tell();
        Scheduler.exit(dispatcher);
        return due;
    }

    private void tell() {
        Held.wall = wheel.now / Wheel.MILLISECOND;
        Held.monotonic = wheel.now;
    }

    @Override
    public Object[] seen() throws Throwable {
        return new Object[] {ask("getNumberOfDelayedMessages"), wheel.armed()};
    }
}
