package broker_tck.threads;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * Calls of maps that call a function. A ConcurrentHashMap holds a lock of its own meanwhile, which no other thread
 * could wait for, so that there it all happens in one go.
 */
public final class Maps {

    public static Object compute(Map<Object, Object> map, Object key, BiFunction<Object, Object, Object> function) {
        boolean whole = Scheduler.begin(map instanceof ConcurrentHashMap);
        try {
            return map.compute(key, function);
        } finally {
            Scheduler.end(whole);
        }
    }

    public static Object computeIfAbsent(Map<Object, Object> map, Object key, Function<Object, Object> function) {
        boolean whole = Scheduler.begin(map instanceof ConcurrentHashMap);
        try {
            return map.computeIfAbsent(key, function);
        } finally {
            Scheduler.end(whole);
        }
    }

    public static Object computeIfPresent(
            Map<Object, Object> map, Object key, BiFunction<Object, Object, Object> function) {
        boolean whole = Scheduler.begin(map instanceof ConcurrentHashMap);
        try {
            return map.computeIfPresent(key, function);
        } finally {
            Scheduler.end(whole);
        }
    }

    public static Object merge(
            Map<Object, Object> map, Object key, Object value, BiFunction<Object, Object, Object> function) {
        boolean whole = Scheduler.begin(map instanceof ConcurrentHashMap);
        try {
            return map.merge(key, value, function);
        } finally {
            Scheduler.end(whole);
        }
    }
}
