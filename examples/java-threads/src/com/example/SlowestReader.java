package com.example;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** How far each reader of a topic has come. The least position is kept, and found anew after a change. */
public final class SlowestReader {

    private final Map<String, long[]> positions;
    private long[] least;

    public SlowestReader(int readers) {
        positions = new HashMap<>(readers);
    }

    /** A reader joins at a position, or goes there if it is there already. */
    public synchronized void join(String reader, long ledger, long entry) {
        positions.put(reader, new long[] {ledger, entry});
        least = null;
    }

    /** A reader that has joined goes to a position. */
    public synchronized void move(String reader, long ledger, long entry) {
        if (positions.containsKey(reader)) {
            join(reader, ledger, entry);
        }
    }

    /** A reader leaves; answers whether it had joined. */
    public synchronized boolean leave(String reader) {
        least = null;
        return positions.remove(reader) != null;
    }

    public synchronized int readers() {
        return positions.size();
    }

    /** The least position; null if there is no reader. */
    public long[] slowest() {
        long[] known = least;
        if (known == null) {
            known = find();
            least = known;
        }
        return known;
    }

    private synchronized long[] find() {
        return positions.values().stream().min(Arrays::compare).orElse(null);
    }
}
