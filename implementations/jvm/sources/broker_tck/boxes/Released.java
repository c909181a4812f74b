package broker_tck.boxes;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;

/** What a class of a release has, by names: from release to release it has other types. */
final class Released {

    private static final Map<String, AccessibleObject> FOUND = new HashMap<>();

    static Class<?> named(String name) throws ClassNotFoundException {
        return Class.forName(name, true, Released.class.getClassLoader());
    }

    /** Make an object by the only constructor that takes so many arguments. */
    static Object make(String name, Object... arguments) throws Throwable {
        String key = name + arguments.length;
        Constructor<?> found = (Constructor<?>) FOUND.get(key);
        if (found == null) {
            found = (Constructor<?>) kept(key, fitting(named(name).getDeclaredConstructors(), null, arguments.length));
        }
        try {
            return found.newInstance(arguments);
        } catch (InvocationTargetException error) {
            throw error.getCause();
        }
    }

    /** Call the method of a name that takes so many arguments. */
    static Object call(Object on, String name, Object... arguments) throws Throwable {
        return called(on.getClass(), on, name, arguments);
    }

    /** Call a static method. */
    static Object callStatic(String owner, String name, Object... arguments) throws Throwable {
        return called(named(owner), null, name, arguments);
    }

    private static Object called(Class<?> owner, Object on, String name, Object[] arguments) throws Throwable {
        String key = owner.getName() + ' ' + name + arguments.length;
        Method found = (Method) FOUND.get(key);
        for (Class<?> at = owner; found == null && at != null; at = at.getSuperclass()) {
            found = (Method) kept(key, fitting(at.getDeclaredMethods(), name, arguments.length));
        }
        if (found == null) {
            found = (Method) kept(key, fitting(owner.getMethods(), name, arguments.length));
        }
        if (found == null) {
            throw new NoSuchMethodError(key);
        }
        try {
            return found.invoke(on, arguments);
        } catch (InvocationTargetException error) {
            throw error.getCause();
        }
    }

    /** Set a field of an object, or of what its class extends. */
    static void set(Object on, String name, Object value) throws ReflectiveOperationException {
        for (Class<?> at = on.getClass(); at != null; at = at.getSuperclass()) {
            for (Field field : at.getDeclaredFields()) {
                if (field.getName().equals(name)) {
                    field.setAccessible(true);
                    field.set(on, value);
                }
            }
        }
    }

    private static Executable fitting(Executable[] all, String name, int arguments) {
        for (Executable each : all) {
            if ((name == null || each.getName().equals(name)) && each.getParameterCount() == arguments
                    && !each.isSynthetic()) {
                return each;
            }
        }
        return null;
    }

    private static AccessibleObject kept(String key, Executable found) {
        if (found != null) {
            found.setAccessible(true);
            FOUND.put(key, found);
        }
        return found;
    }
}
