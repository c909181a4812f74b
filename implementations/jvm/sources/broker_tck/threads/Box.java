package broker_tck.threads;

/**
 * An object under test, fresh for every schedule. Its constructor takes the configuration, a Map of names to values.
 *
 * <p>Values are those of JSON: null, Boolean, Long, String, and arrays of them.
 */
public interface Box {

    /** Perform an operation of the contract, named by its tag, and answer with its result. */
    Object call(String name, Object[] arguments) throws Throwable;

    /** The observables of the contract; null for one that the box cannot tell. */
    Object[] seen() throws Throwable;
}
