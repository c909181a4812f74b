package broker_tck.boxes;

import java.lang.invoke.MethodType;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** What a class of a release has, by names: from release to release it has other types. */
final class Released {

    private static final Map<String, Executable[]> FOUND = new HashMap<>();

    static Class<?> named(String name) throws ClassNotFoundException {
        return Class.forName(name, true, Released.class.getClassLoader());
    }

    /** Make an object by the constructor that takes such arguments. */
    static Object make(String name, Object... arguments) throws Throwable {
        Executable[] all = FOUND.get(name);
        if (all == null) {
            all = kept(name, named(name).getDeclaredConstructors());
        }
        try {
            return ((Constructor<?>) fitting(all, name, arguments)).newInstance(arguments);
        } catch (InvocationTargetException error) {
            throw error.getCause();
        }
    }

    /** Call the method of a name that takes such arguments. */
    static Object call(Object on, String name, Object... arguments) throws Throwable {
        return called(on.getClass(), on, name, arguments);
    }

    /** Call a static method. */
    static Object callStatic(String owner, String name, Object... arguments) throws Throwable {
        return called(named(owner), null, name, arguments);
    }

    /** Whether an object has a method of a name. */
    static boolean has(Object on, String name) {
        return methods(on.getClass(), name).length > 0;
    }

    private static Object called(Class<?> owner, Object on, String name, Object[] arguments) throws Throwable {
        try {
            return ((Method) fitting(methods(owner, name), name, arguments)).invoke(on, arguments);
        } catch (InvocationTargetException error) {
            throw error.getCause();
        }
    }

    /** All methods of a name, those of what a class extends behind its own. */
    private static Executable[] methods(Class<?> owner, String name) {
        String key = owner.getName() + ' ' + name;
        Executable[] found = FOUND.get(key);
        if (found == null) {
            List<Method> all = new ArrayList<>();
            for (Class<?> at = owner; at != null; at = at.getSuperclass()) {
                all.addAll(Arrays.asList(at.getDeclaredMethods()));
            }
            all.addAll(Arrays.asList(owner.getMethods()));
            for (Iterator<Method> each = all.iterator(); each.hasNext(); ) {
                Method method = each.next();
                if (!method.getName().equals(name) || Modifier.isAbstract(method.getModifiers())) {
                    each.remove();
                }
            }
            found = kept(key, all.toArray(new Executable[0]));
        }
        return found;
    }

    /** Make an object as deserialization does: no constructor of its class, or of what that extends, runs. */
    static Object blank(Class<?> kind) throws Throwable {
        Class<?> factories = Class.forName("sun.reflect.ReflectionFactory");
        Object factory = factories.getMethod("getReflectionFactory").invoke(null);
        Constructor<?> plain = Object.class.getDeclaredConstructor();
        return ((Constructor<?>) call(factory, "newConstructorForSerialization", kind, plain)).newInstance();
    }

    private static Executable[] kept(String key, Executable[] found) {
        AccessibleObject.setAccessible(found, true);
        FOUND.put(key, found);
        return found;
    }

    private static Executable fitting(Executable[] all, String name, Object[] arguments) {
        for (Executable each : all) {
            if (fits(each.getParameterTypes(), arguments)) {
                return each;
            }
        }
        throw new NoSuchMethodError(name);
    }

    private static boolean fits(Class<?>[] kinds, Object[] arguments) {
        boolean fits = kinds.length == arguments.length;
        for (int i = 0; fits && i < kinds.length; i++) {
            Class<?> kind = kinds[i].isPrimitive() ? MethodType.methodType(kinds[i]).wrap().returnType() : kinds[i];
            fits = arguments[i] == null || kind.isInstance(arguments[i]);
        }
        return fits;
    }
}
