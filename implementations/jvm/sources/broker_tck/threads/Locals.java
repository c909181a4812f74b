package broker_tck.threads;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;

/** Locals of threads, also Netty's, with a value for each thread of the scheduler. As a run begins they have none. */
public final class Locals {

    private static final Map<Object, Map<Integer, Object>> VALUES = new IdentityHashMap<>();
    private static int run;

    private static Map<Integer, Object> of(Object local) {
        if (run != Scheduler.runs()) {
            run = Scheduler.runs();
            VALUES.clear();
        }
        VALUES.putIfAbsent(local, new HashMap<>());
        return VALUES.get(local);
    }

    public static Object get(Object local) throws Throwable {
        Map<Integer, Object> values = of(local);
        if (!values.containsKey(Scheduler.thread())) {
            values.put(Scheduler.thread(), initial(local));
        }
        return values.get(Scheduler.thread());
    }

    public static void set(Object local, Object value) {
        of(local).put(Scheduler.thread(), value);
    }

    public static void remove(Object local) {
        of(local).remove(Scheduler.thread());
    }

    private static Object initial(Object local) throws Throwable {
        for (Class<?> at = local.getClass(); at != Object.class; at = at.getSuperclass()) {
            for (Method method : at.getDeclaredMethods()) {
                if (method.getName().equals("initialValue")) {
                    method.setAccessible(true);
                    return made(method, local);
                }
            }
        }
        return null;
    }

    private static Object made(Method initial, Object local) throws Throwable {
        try {
            return initial.invoke(local);
        } catch (InvocationTargetException error) {
            throw error.getCause();
        }
    }
}
