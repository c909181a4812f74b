package broker_tck.threads;

/** Ends what a thread is about. It is the scheduler's own, and no outcome of a call. */
final class Stop extends Error {

    /** The run is over. */
    static final String LEFT = "left";
    /** The only thread there is waits for something that no other one can bring about. */
    static final String DEADLOCK = "deadlock";

    /** Why it ends: one of these, or why the scheduler cannot have it wait. */
    Stop(String why) {
        super(why, null, false, false);
    }
}
