package broker_tck.boxes;

import broker_tck.Cursor;
import broker_tck.Held;
import broker_tck.threads.Box;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A container of active cursors. */
public abstract class Cursors implements Box {

    static final String PACKAGE = "org.apache.bookkeeper.mledger.impl.";

    private final Object container;
    private final Map<Object, Cursor> made = new HashMap<>();
    private int added;

    Cursors(Map<String, Object> config, String name, Object... arguments) throws Throwable {
        Held.wall = (Long) config.get("clock");
        container = Released.make(PACKAGE + name, arguments);
    }

    Object ask(String name, Object... arguments) throws Throwable {
        return Released.call(container, name, arguments);
    }

    @Override
    public Object call(String name, Object[] a) throws Throwable {
        switch (name) {
            case "add":
                return add((String) a[0], a[1], false);
            case "durable":
                return add((String) a[0], a[1], true);
            case "update":
                return update((String) a[0], a[1]);
            case "remove":
                return remove((String) a[0], (Long) a[1]);
            case "crowd":
                for (int i = 0; i < (Long) a[1]; i++) {
                    add(a[0] + "" + i, place(a, i), (Boolean) a[5]);
                }
                return null;
            case "march":
                long among = (Long) a[5] == 0 ? (Long) a[1] : (Long) a[5];
                for (int i = 0; i < (Long) a[1]; i++) {
                    update(a[0] + "" + i % among, place(a, i));
                }
                return null;
            case "slowest":
                return Positions.read(slowest());
            case "count":
                return ask("getNumberOfCursorsAtSamePositionOrBefore", cursor((String) a[0]));
            case "size":
                return size();
            case "get":
                return number(ask("get", a[0]));
            case "list":
                return listed();
            case "caches":
                return caches();
            case "oldest":
                return oldest(ask("getCursorWithOldestPosition"));
            case "durables":
                return ask("hasDurableCursors");
            case "adv":
                Held.wall += (Long) a[0];
                return null;
            default:
                throw new NoSuchMethodError(name);
        }
    }

    @Override
    public Object[] seen() {
        return new Object[0];
    }

    private Object add(String name, Object at, boolean durable) throws Throwable {
        Cursor cursor = new Cursor(name, durable, ++added);
        made.put(name, cursor);
        ask("add", cursor, Positions.of(at));
        return null;
    }

    /** Where the cursor of a number is, in a crowd or a march. */
    private static Object place(Object[] a, int i) {
        Object[] first = (Object[]) a[2];
        long apart = i * (Long) a[3];
        long within = (Long) a[4];
        return new Object[] {first[0], (Long) first[1] + (within == 0 ? apart : Math.floorMod(apart, within))};
    }

    private Object update(String name, Object at) throws Throwable {
        move(cursor(name), Positions.of(at));
        return null;
    }

    private Object remove(String name, long n) throws Throwable {
        if (n == 0) {
            return ask("removeCursor", name);
        }
        long there = 0;
        for (int i = 0; i < n; i++) {
            there += (Boolean) ask("removeCursor", name + i) ? 1 : 0;
        }
        return there;
    }

    private Cursor cursor(String name) {
        Cursor found = made.get(name);
        return found == null ? new Cursor(name, false, 0) : found;
    }

    private static Object number(Object cursor) {
        return cursor == null ? null : ((Cursor) cursor).number;
    }

    List<Integer> listed() {
        List<Integer> numbers = new ArrayList<>();
        for (Object cursor : (Iterable<?>) container) {
            numbers.add(((Cursor) cursor).number);
        }
        Collections.sort(numbers);
        return numbers;
    }

    private static Object oldest(Object info) throws Throwable {
        if (info == null) {
            return null;
        }
        Object cursor = number(Released.call(info, "getCursor"));
        Object position = Positions.read(Released.call(info, "getPosition"));
        return new Object[] {cursor, position, Released.call(info, "getVersion")};
    }

    // ---- What has another name in the heap before 4.2

    void move(Cursor cursor, Object to) throws Throwable {
        ask("updateCursor", cursor, to);
    }

    Object slowest() throws Throwable {
        return ask("getSlowestCursorPosition");
    }

    Object size() throws Throwable {
        return ask("size");
    }

    Object caches() throws Throwable {
        return ask("shouldCacheAddedEntry");
    }
}
