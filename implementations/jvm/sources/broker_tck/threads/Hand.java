package broker_tck.threads;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** A thread of Java's that does what it is given while another one waits, and the other way round. */
final class Hand implements Runnable {

    private static final List<Hand> HANDS = new ArrayList<>();

    /** What it does next. */
    Runnable work;
    private final Thread thread = new Thread(this);
    private Thread other;
    private volatile boolean busy;

    /** The hand of a number. */
    static Hand of(int number) {
        while (HANDS.size() <= number) {
            Hand made = new Hand();
            made.thread.setDaemon(true);
            made.thread.start();
            HANDS.add(made);
        }
        return HANDS.get(number);
    }

    @Override
    public void run() {
        while (true) {
            until(true);
            work.run();
            turn(false, other);
        }
    }

    /** Have it go on, and wait until it hands back. */
    void over() {
        other = Thread.currentThread();
        turn(true, thread);
        until(false);
    }

    /** Called on its thread: hand back, and wait until it is to go on. */
    void back() {
        turn(false, other);
        until(true);
    }

    private void turn(boolean to, Thread whose) {
        busy = to;
        LockSupport.unpark(whose);
    }

    private void until(boolean turn) {
        while (busy != turn) {
            LockSupport.park(this);
        }
    }
}
