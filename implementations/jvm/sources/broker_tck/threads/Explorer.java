package broker_tck.threads;

import broker_tck.Held;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;

/**
 * Runs a program under many schedules, and gathers the histories that come out.
 *
 * <p>A history has a line for each event: {@code =JSON} is a call of one thread alone, its result and the observables
 * after it; {@code +t i} is the begin of call i of thread t, {@code -t i JSON} its end, with its result; {@code !why}
 * comes last where the calls do not end.
 */
public final class Explorer {

    /** Maximum number of jumps backwards in a run. No calls that end make so many. */
    private static final long FUEL = 2_000_000;
    /** How many preemptions at most a drawn schedule has above those that are all tried. */
    private static final int MORE = 5;

    public int schedules;
    public long points;
    /** Whether all schedules of so many preemptions were tried. */
    public boolean complete;
    /**
     * The thread and the site of each point that was passed, if a schedule was followed. In place of a site,
     * {@code -1 - 2i} is the begin of the thread's call i, and {@code -2 - 2i} its end.
     */
    public int[] trail;

    private final Constructor<?> box;
    private final Map<String, Object> config;
    private final Object[] before;
    private final Object[] threads;
    private final Object[] after;
    private final Map<String, Seen> histories = new LinkedHashMap<>();
    private int longest = 1;

    /** Calls before, calls of each thread, calls after; each is an array, as an operation in a trace. */
    public Explorer(Class<?> box, Map<String, Object> config, Object[] before, Object[] threads, Object[] after)
            throws NoSuchMethodException {
        this.box = box.getConstructor(Map.class);
        this.config = config;
        this.before = before;
        this.threads = threads;
        this.after = after;
    }

    /** The histories, in the order in which they came out first. */
    public Seen[] histories() {
        return histories.values().toArray(new Seen[0]);
    }

    /** Try all schedules of so many preemptions, the fewest first, then some that are drawn. */
    public void explore(int preemptions, int most, int drawn, long seed) throws Throwable {
        complete = tryAll(preemptions, most);
        Draw draw = new Draw(seed);
        for (int i = 0; i < drawn; i++) {
            keep(drawn(draw, preemptions + 1 + draw.below(MORE)));
        }
    }

    /** Whether all were tried. Each is one that was run before, with one more entry at a later point. */
    private boolean tryAll(int preemptions, int most) throws Throwable {
        List<Queue<int[]>> byPreemptions = new ArrayList<>();
        for (int i = 0; i <= preemptions; i++) {
            byPreemptions.add(new ArrayDeque<>());
        }
        byPreemptions.get(0).add(new int[0]);
        int known = 1;
        for (int i = 0; i <= preemptions; i++) {
            Queue<int[]> queue = byPreemptions.get(i);
            for (int[] schedule = queue.poll(); schedule != null; schedule = queue.poll()) {
                Scheduler run = keep(schedule);
                int first = schedule.length == 0 ? 0 : schedule[schedule.length - 2] + 1;
                for (int point = first; point < run.points && known < most; point++) {
                    int needed = run.isFree(point) ? i : i + 1;
                    int others = needed <= preemptions ? run.others(point) : 0;
                    for (; others != 0; others &= others - 1) {
                        int thread = Integer.numberOfTrailingZeros(others);
                        byPreemptions.get(needed).add(Scheduler.with(schedule, point, thread));
                        known++;
                    }
                }
            }
        }
        return known < most;
    }

    /** A schedule that is drawn: so many points, and who goes on there if he can. */
    private int[] drawn(Draw draw, int entries) {
        boolean[] at = new boolean[longest];
        for (int i = 0; i < entries; i++) {
            at[draw.below(longest)] = true;
        }
        int[] schedule = new int[0];
        for (int point = 0; point < longest; point++) {
            if (at[point]) {
                schedule = Scheduler.with(schedule, point, draw.below(threads.length));
            }
        }
        return schedule;
    }

    private Scheduler keep(int[] schedule) throws Throwable {
        StringBuilder history = new StringBuilder();
        Scheduler run = run(schedule, history, null);
        schedules++;
        points += run.points;
        longest = Math.max(longest, run.points);
        String text = history.toString();
        Seen seen = histories.get(text);
        if (seen == null) {
            histories.put(text, new Seen(text, run.taken()));
        } else {
            seen.schedules++;
        }
        return run;
    }

    /** Run one schedule; answers with its history. */
    public String follow(int[] schedule) throws Throwable {
        StringBuilder history = new StringBuilder();
        Numbers passed = new Numbers();
        run(schedule, history, passed);
        trail = passed.toArray();
        return history.toString();
    }

    private Scheduler run(int[] schedule, StringBuilder history, Numbers passed) throws Throwable {
        Scheduler.fresh();
        Held.fuel = FUEL;
        Box made = made();
        Script[] scripts = new Script[threads.length];
        for (int thread = 0; thread < threads.length; thread++) {
            scripts[thread] = new Script(made, thread, (Object[]) threads[thread], history);
        }
        Scheduler run = new Scheduler(schedule, scripts);
        run.trail = passed;
        for (Script script : scripts) {
            script.run = run;
        }
        if (alone(made, before, history)) {
            String wrong = run.run();
            if (wrong != null) {
                history.append('!').append(wrong).append('\n');
            } else {
                alone(made, after, history);
            }
        }
        return run;
    }

    private Box made() throws Throwable {
        try {
            return (Box) box.newInstance(config);
        } catch (InvocationTargetException error) {
            throw error.getCause();
        }
    }

    /** Make calls of one thread alone; answers whether all of them ended. */
    private boolean alone(Box box, Object[] calls, StringBuilder history) throws Throwable {
        for (Object call : calls) {
            try {
                Object result = result(box, (Object[]) call);
                history.append('=');
                Json.write(history, new Object[] {result, seen(box)});
                history.append('\n');
            } catch (Held.Spins endless) {
                history.append("!endless\n");
                return false;
            } catch (Stop stop) {
                if (!Stop.DEADLOCK.equals(stop.getMessage())) {
                    throw stop;
                }
                history.append("!deadlock\n");
                return false;
            }
        }
        return true;
    }

    /** What a thread does. */
    private static final class Script implements Runnable {

        private final Box box;
        private final int thread;
        private final Object[] calls;
        private final StringBuilder history;
        private Scheduler run;

        Script(Box box, int thread, Object[] calls, StringBuilder history) {
            this.box = box;
            this.thread = thread;
            this.calls = calls;
            this.history = history;
        }

        @Override
        public void run() {
            for (int i = 0; i < calls.length; i++) {
                run.note(-1 - 2 * i);
                history.append('+').append(thread).append(' ').append(i).append('\n');
                Object result = null;
                try {
                    result = result(box, (Object[]) calls[i]);
                } catch (Held.Spins endless) {
                    Scheduler.endless();
                }
                run.callEnds();
                run.note(-2 - 2 * i);
                history.append('-').append(thread).append(' ').append(i).append(' ');
                Json.write(history, result);
                history.append('\n');
            }
        }
    }

    private static Object result(Box box, Object[] call) {
        Object[] arguments = new Object[call.length - 1];
        System.arraycopy(call, 1, arguments, 0, arguments.length);
        try {
            return box.call((String) call[0], arguments);
        } catch (Throwable error) {
            return outcome(error);
        }
    }

    private static Object seen(Box box) {
        try {
            return box.seen();
        } catch (Throwable error) {
            return outcome(error);
        }
    }

    /** What a call throws, as a result. What the kit throws, and that a class does not fit those around it, is none. */
    private static Object outcome(Throwable error) {
        if (error instanceof Stop || error instanceof Held.Spins || error instanceof LinkageError) {
            throw (Error) error;
        }
        return new Raised(error.getClass().getSimpleName());
    }

    private static final class Raised {

        private final String name;

        Raised(String name) {
            this.name = name;
        }

        @Override
        public String toString() {
            return "{\"raises\":\"" + name + "\"}";
        }
    }
}
