package com.example;

import broker_tck.threads.Box;
import java.util.Map;

/** Performs the operations of the contract active-cursors on a SlowestReader. */
public final class SlowestReaderBox implements Box {

    private final SlowestReader readers = new SlowestReader(16);

    public SlowestReaderBox(Map<String, Object> config) {
        // has a clock and a time of grace, and this class has neither
    }

    @Override
    public Object call(String operation, Object[] fields) {
        String name = fields.length > 0 ? (String) fields[0] : null;
        switch (operation) {
            case "add":
                readers.join(name, ledger(fields[1]), entry(fields[1]));
                return null;
            case "update":
                readers.move(name, ledger(fields[1]), entry(fields[1]));
                return null;
            case "remove":
                return readers.leave(name);
            case "slowest":
                return array(readers.slowest());
            case "size":
                return (long) readers.readers();
            default:
                throw new NoSuchMethodError(operation);
        }
    }

    private static long ledger(Object position) {
        return (Long) ((Object[]) position)[0];
    }

    private static long entry(Object position) {
        return (Long) ((Object[]) position)[1];
    }

    private static Object[] array(long[] position) {
        return position == null ? null : new Object[] {position[0], position[1]};
    }

    @Override
    public Object[] seen() {
        return new Object[0];
    }
}
