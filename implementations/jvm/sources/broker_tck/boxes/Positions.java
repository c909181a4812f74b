package broker_tck.boxes;

/** Positions of Java's, which are a ledger id and an entry id. */
final class Positions {

    private static final String LEDGER = "org.apache.bookkeeper.mledger.";

    static Object make(Object ledger, Object entry) throws Throwable {
        try {
            return Released.callStatic(LEDGER + "PositionFactory", "create", ledger, entry);
        } catch (ClassNotFoundException before40) {
            return Released.callStatic(LEDGER + "impl.PositionImpl", "get", ledger, entry);
        }
    }

    /** The position of an array of both; null for none. */
    static Object of(Object pair) throws Throwable {
        return pair == null ? null : make(((Object[]) pair)[0], ((Object[]) pair)[1]);
    }

    /** An array of both, or null. */
    static Object read(Object position) throws Throwable {
        if (position == null) {
            return null;
        }
        return new Object[] {Released.call(position, "getLedgerId"), Released.call(position, "getEntryId")};
    }
}
