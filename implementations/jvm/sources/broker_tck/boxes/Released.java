package broker_tck.boxes;

import java.lang.invoke.MethodType;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
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

    private static final Map<String, Class<?>> CLASSES = new HashMap<>();
    /** Methods of each class by their names, its constructors, and how an object without any is made. */
    private static final Map<Class<?>, Map<String, Fitting[]>> FOUND = new HashMap<>();
    private static final String MAKE = "<init>";
    private static final String BLANK = "blank";

    static Class<?> named(String name) throws ClassNotFoundException {
        Class<?> found = CLASSES.get(name);
        if (found == null) {
            found = Class.forName(name, true, Released.class.getClassLoader());
            CLASSES.put(name, found);
        }
        return found;
    }

    /** Make an object by the constructor that takes such arguments. */
    static Object make(String name, Object... arguments) throws Throwable {
        Class<?> kind = named(name);
        Fitting[] all = known(kind, MAKE);
        if (all == null) {
            all = kept(kind, MAKE, kind.getDeclaredConstructors());
        }
        try {
            return ((Constructor<?>) fitting(all, name, arguments)).newInstance(arguments);
        } catch (InvocationTargetException error) {
            throw error.getCause();
        }
    }

    /** Make an object by its class's one constructor: of what is given, a release takes what it has parameters for. */
    static Object makeWith(String name, Object... given) throws Throwable {
        Class<?>[] kinds = boxed(named(name).getConstructors()[0]);
        List<Object> left = new ArrayList<>(Arrays.asList(given));
        Object[] arguments = new Object[kinds.length];
        for (int i = 0; i < kinds.length; i++) {
            for (int at = 0; arguments[i] == null && at < left.size(); at++) {
                arguments[i] = kinds[i].isInstance(left.get(at)) ? left.remove(at) : null;
            }
        }
        return make(name, arguments);
    }

    /** The classes of what a method or a constructor takes. */
    private static Class<?>[] boxed(Executable of) {
        return MethodType.methodType(void.class, of.getParameterTypes()).wrap().parameterArray();
    }

    /** Call the method of a name that takes such arguments. */
    static Object call(Object on, String name, Object... arguments) throws Throwable {
        return called(on.getClass(), on, name, arguments);
    }

    /** Call a static method. */
    static Object callStatic(String owner, String name, Object... arguments) throws Throwable {
        return called(named(owner), null, name, arguments);
    }

    /** A field that a class declares, private or not. */
    static Field field(Class<?> of, String name) throws NoSuchFieldException {
        Field field = of.getDeclaredField(name);
        field.setAccessible(true);
        return field;
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
    private static Fitting[] methods(Class<?> owner, String name) {
        Fitting[] found = known(owner, name);
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
            found = kept(owner, name, all.toArray(new Executable[0]));
        }
        return found;
    }

    /** Make an object as deserialization does: no constructor of its class, or of what that extends, runs. */
    static Object blank(Class<?> kind) throws Throwable {
        Fitting[] found = known(kind, BLANK);
        if (found == null) {
            Class<?> factories = Class.forName("sun.reflect.ReflectionFactory");
            Object factory = factories.getMethod("getReflectionFactory").invoke(null);
            Object plain = Object.class.getDeclaredConstructor();
            found = kept(kind, BLANK, (Executable) call(factory, "newConstructorForSerialization", kind, plain));
        }
        return ((Constructor<?>) found[0].found).newInstance();
    }

    private static Fitting[] known(Class<?> owner, String name) {
        Map<String, Fitting[]> all = FOUND.get(owner);
        return all == null ? null : all.get(name);
    }

    private static Fitting[] kept(Class<?> owner, String name, Executable... found) {
        AccessibleObject.setAccessible(found, true);
        Fitting[] all = new Fitting[found.length];
        for (int i = 0; i < all.length; i++) {
            all[i] = new Fitting(found[i]);
        }
        FOUND.putIfAbsent(owner, new HashMap<>());
        FOUND.get(owner).put(name, all);
        return all;
    }

    private static Executable fitting(Fitting[] all, String name, Object[] arguments) {
        for (Fitting each : all) {
            if (each.fits(arguments)) {
                return each.found;
            }
        }
        throw new NoSuchMethodError(name);
    }

    /** A method or a constructor, and the classes of its arguments. */
    private static final class Fitting {

        private final Executable found;
        private final Class<?>[] kinds;

        Fitting(Executable found) {
            this.found = found;
            kinds = boxed(found);
        }

        boolean fits(Object[] arguments) {
            boolean fits = kinds.length == arguments.length;
            for (int i = 0; fits && i < kinds.length; i++) {
                fits = arguments[i] == null || kinds[i].isInstance(arguments[i]);
            }
            return fits;
        }
    }
}
