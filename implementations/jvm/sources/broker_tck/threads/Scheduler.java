package broker_tck.threads;

import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * One run of some threads, of which one goes on at a time. Points are counted from 0: that at which the first begins,
 * each that is woven in, and each at which a thread ends or waits. At a point a schedule may have another thread go on.
 *
 * <p>Without a schedule a thread goes on as long as it can, and after it the lowest one that can.
 */
public final class Scheduler {

    /** Maximum number of points in a run. No calls that end pass so many. */
    private static final int MOST = 20_000;
    /** So many points in a row, and the others go on: a thread may wait for one of them in a loop. */
    private static final int PATIENCE = 1_000;
    private static final int NOBODY = -1;
    /** The sites that are not woven in: a timer fires, time goes on, or a call takes the monitor of a dispatcher. */
    public static final int FIRES = 0;
    public static final int GOES_ON = 1;
    public static final int ENTERS = 2;

    /** The run that is under way; null if all calls come from one thread alone. */
    private static Scheduler running;
    /** How many runs there were. */
    private static int runs;

    private final int[] schedule;
    private final Strand[] strands;
    private final BooleanSupplier[] waits;
    private final Map<Object, Hold> monitors = new IdentityHashMap<>();
    private int alive;
    private int waiting;
    private int current = NOBODY;
    /** Who was chosen at a point of the current thread's. */
    private int next = NOBODY;
    private int inRow;
    /** Above 0 within what is done in one go. */
    private int whole;
    private boolean over;
    private Throwable failure;

    /** How many points were passed. */
    int points;
    /** Who could go on at each point, as bits; and who was to go on if he could, else NOBODY. */
    private int[] able = new int[256];
    private int[] stays = new int[256];
    /** Where in the schedule the run is, and the part of it that took effect. */
    private int at;
    private int[] taken = new int[0];
    /** The thread and the site of each point that was passed, if somebody wants to know. */
    Numbers trail;

    /** A schedule is a point and a thread, then the next point and its thread, and so on. */
    Scheduler(int[] schedule, Runnable[] threads) {
        this.schedule = schedule;
        strands = new Strand[threads.length];
        waits = new BooleanSupplier[threads.length];
        alive = (1 << threads.length) - 1;
        for (int i = 0; i < threads.length; i++) {
            strands[i] = Strand.of(i, new Work(this, 1 << i, threads[i]));
        }
    }

    /** What a thread does, and that it ends then. */
    private static final class Work implements Runnable {

        private final Scheduler its;
        private final int bit;
        private final Runnable thread;

        Work(Scheduler its, int bit, Runnable thread) {
            this.its = its;
            this.bit = bit;
            this.thread = thread;
        }

        @Override
        public void run() {
            try {
                thread.run();
            } catch (Throwable error) {
                its.failure = its.over ? its.failure : error;
            }
            its.alive &= ~bit;
        }
    }

    /** Run all threads to their ends; answers with what went wrong, or null. What a thread throws comes out here. */
    String run() throws Throwable {
        running = this;
        try {
            while (failure == null && !over && go()) {
                strands[current].resume();
            }
            String wrong = over ? "endless" : alive != 0 ? "deadlock" : null;
            over = true;
            for (int left = alive; left != 0; left &= left - 1) {
                current = Integer.numberOfTrailingZeros(left);
                strands[current].leave();
            }
            if (failure != null) {
                throw failure;
            }
            return wrong;
        } finally {
            running = null;
        }
    }

    /** Choose who goes on, unless that was chosen at a point. */
    private boolean go() {
        if (next == NOBODY) {
            int can = canGoOn();
            if (can == 0) {
                return false;
            }
            next = choose(can, NOBODY);
        }
        current = next;
        next = NOBODY;
        inRow = 0;
        return true;
    }

    private int canGoOn() {
        int can = alive;
        for (int left = waiting; left != 0; left &= left - 1) {
            int thread = Integer.numberOfTrailingZeros(left);
            if (!waits[thread].getAsBoolean()) {
                can &= ~(1 << thread);
            }
        }
        return can;
    }

    /** Pass a point: who goes on there. */
    private int choose(int can, int stay) {
        if (points == able.length) {
            able = Arrays.copyOf(able, 2 * points);
            stays = Arrays.copyOf(stays, 2 * points);
        }
        able[points] = can;
        stays[points] = stay;
        int point = points++;
        while (at < schedule.length && schedule[at] < point) {
            at += 2;
        }
        int usual = usual(point);
        if (at < schedule.length && schedule[at] == point && schedule[at + 1] != usual
                && (can >> schedule[at + 1] & 1) != 0) {
            taken = with(taken, point, schedule[at + 1]);
            return schedule[at + 1];
        }
        return usual;
    }

    /** Who goes on at a point without a schedule. */
    private int usual(int point) {
        return isFree(point) ? Integer.numberOfTrailingZeros(able[point]) : stays[point];
    }

    /** Whether nobody is preempted, whoever goes on at a point. */
    boolean isFree(int point) {
        return stays[point] == NOBODY;
    }

    /** Who else may go on at a point, as bits. */
    int others(int point) {
        return able[point] & ~(1 << usual(point));
    }

    /** The part of the schedule that took effect. */
    int[] taken() {
        return taken;
    }

    /** A schedule with one more entry. */
    static int[] with(int[] schedule, int point, int thread) {
        int[] more = Arrays.copyOf(schedule, schedule.length + 2);
        more[schedule.length] = point;
        more[schedule.length + 1] = thread;
        return more;
    }

    // ---- What woven classes call, and what stands in for classes that threads share

    /** Begin a new run: no pool has anything left. */
    static void fresh() {
        runs++;
    }

    /** How many runs there were, this one included. */
    public static int runs() {
        return runs;
    }

    /** The number of the thread that runs; -1 for the one that is alone. */
    public static int thread() {
        return running == null ? NOBODY : running.current;
    }

    /** A point: before something that other threads may notice, or change. */
    public static void point(int site) {
        Scheduler now = running;
        if (now != null && now.whole == 0) {
            now.pass(site);
        }
    }

    private void pass(int site) {
        if (points >= MOST) {
            over = true;
        }
        if (over) {
            pause();
        }
        note(site);
        int can = canGoOn();
        int chosen = ++inRow > PATIENCE && can != 1 << current
            ? choose(can & ~(1 << current), NOBODY)
            : choose(can, current);
        if (chosen != current) {
            next = chosen;
            pause();
        }
    }

    private void pause() {
        strands[current].pause();
    }

    /** A call does not end. */
    static void endless() {
        running.over = true;
        running.pause();
    }

    /** Note in the trail what the current thread does. */
    void note(int what) {
        if (trail != null) {
            trail.add(current);
            trail.add(what);
        }
    }

    /** Wait until something holds that another thread brings about. */
    public static void until(BooleanSupplier holds) {
        Scheduler now = running;
        while (!holds.getAsBoolean()) {
            if (now == null) {
                throw new Stop(Stop.DEADLOCK);
            }
            if (now.whole > 0) {
                throw new Stop("a map calls a function");
            }
            int me = now.current;
            now.waits[me] = holds;
            now.waiting |= 1 << me;
            now.pause();
            now.waiting &= ~(1 << me);
        }
    }

    /** Begin something; answers whether it is done in one go, without points. */
    public static boolean begin(boolean whole) {
        if (running != null && whole) {
            running.whole++;
        }
        return whole;
    }

    /** End it. */
    public static void end(boolean whole) {
        if (running != null && whole) {
            running.whole--;
        }
    }

    /** A call ends. */
    void callEnds() {
        if (over) {
            throw new Stop(Stop.LEFT);
        }
    }

    /** Before a call that waits in a way that the scheduler does not know. */
    public static void refuse(String call) {
        throw new Stop("it calls " + call);
    }

    /** Enter a monitor. */
    public static void enter(Object monitor) {
        if (running != null) {
            running.monitors.putIfAbsent(monitor, new Hold());
            running.monitors.get(monitor).take();
        }
    }

    /** Leave a monitor. */
    public static void exit(Object monitor) {
        if (running != null) {
            running.monitors.get(monitor).give();
        }
    }
}
