import broker_tck.Cursor;
import com.github.ajalt.clikt.core.CoreCliktCommandKt;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;
import org.apache.bookkeeper.mledger.impl.ActiveManagedCursorContainer;
import org.apache.bookkeeper.mledger.impl.ActiveManagedCursorContainerImpl;
import org.apache.bookkeeper.mledger.impl.ActiveManagedCursorContainerNavigableSetImpl;
import org.apache.bookkeeper.mledger.impl.ManagedCursorContainerImpl;
import org.pastalab.fray.core.TestRunner;
import org.pastalab.fray.core.command.MainCommand;

/**
 * Containers of cursors under Fray, which runs a program and judges nothing. So programs are drawn here, of the calls
 * that Lincheck draws, and the answers of two threads must be those of one thread that makes the same calls in some
 * order. No call comes in it before one that had ended when it began.
 */
public final class CursorContainers {

    private static final Map<String, Supplier<ActiveManagedCursorContainer>> KINDS = Map.of(
            "CursorHeap", ManagedCursorContainerImpl::new,
            "CursorTreeSet", ActiveManagedCursorContainerNavigableSetImpl::new,
            "CursorList", ActiveManagedCursorContainerImpl::new);
    private static final int BEFORE = 4;
    private static final int EACH = 3;
    private static final int AFTER = 3;

    private static Program program;

    /** Prints in one line what Fray finds in a container; else draws programs until it is ended from outside. */
    public static void main(String[] arguments) {
        PrintStream out = System.out;
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        Random random = new Random(0);
        for (Throwable found = null; found == null; ) {
            program = new Program(arguments[0], random);
            found = explored();
            if (found != null) {
                out.println(found);
            }
        }
    }

    /** What a thousand schedules of the program show: partial order sampling, with points at accesses of memory too. */
    private static Throwable explored() {
        MainCommand fray = new MainCommand();
        CoreCliktCommandKt.parse(fray, new String[] {
            "--run-config", "cli", "--clazz", "CursorContainers", "--method", "once", "--no-reset-class-loader",
            "--no-exit-on-bug", "--scheduler", "pos", "--memory", "--iter", "1000", "--max-scheduled-step", "10000",
            "--timeline-coverage", "none"
        });
        return new TestRunner(fray.toConfiguration()).run();
    }

    /** What Fray calls for each schedule. */
    public static void once() throws InterruptedException {
        program.run();
    }

    /** A container, and the three cursors that calls are about. */
    record Made(ActiveManagedCursorContainer container, Cursor... cursors) {

        static Made of(String kind) {
            return new Made(
                    KINDS.get(kind).get(), new Cursor("a", true, 0), new Cursor("b", false, 1), new Cursor("c", false, 2));
        }
    }

    /** A call, with its arguments. */
    interface Call {

        Object on(Made made);

        static Call drawn(Random random, boolean ranks) {
            int name = random.nextInt(3);
            Position at = PositionFactory.create(0, random.nextInt(5));
            return switch (random.nextInt(ranks ? 6 : 5)) {
                case 0 -> made -> {
                    made.container.add(made.cursors[name], at);
                    return null;
                };
                case 1 -> made -> made.container.removeCursor(made.cursors[name].getName());
                case 2 -> made -> {
                    made.container.updateCursor(made.cursors[name], at);
                    return null;
                };
                case 3 -> made -> made.container.getSlowestCursorPosition();
                case 4 -> made -> made.container.size();
                default -> made -> made.container.getNumberOfCursorsAtSamePositionOrBefore(made.cursors[name]);
            };
        }

        /** What comes back, as text. */
        default String answer(Made made) {
            try {
                return String.valueOf(on(made));
            } catch (RuntimeException raised) {
                return raised.getClass().getSimpleName();
            }
        }
    }

    /** Calls of one thread, then of two at once, then of one again. */
    static final class Program {

        private final String kind;
        private final List<Call> before;
        private final List<List<Call>> threads;
        private final List<Call> after;
        /** Each order of the threads' calls, by the numbers of their threads, and the answers of one thread in it. */
        private final Map<List<Integer>, String> orders = new HashMap<>();

        Program(String kind, Random random) {
            this.kind = kind;
            boolean ranks = !kind.equals("CursorHeap");
            Stream<Call> calls = Stream.generate(() -> Call.drawn(random, ranks));
            List<Call> all = calls.limit(BEFORE + 2 * EACH + AFTER).toList();
            before = all.subList(0, BEFORE);
            threads = List.of(all.subList(BEFORE, BEFORE + EACH), all.subList(BEFORE + EACH, BEFORE + 2 * EACH));
            after = all.subList(BEFORE + 2 * EACH, all.size());
            extend(List.of());
        }

        /** Keep the answers of all orders that begin with one. */
        private void extend(List<Integer> order) {
            if (order.size() == 2 * EACH) {
                orders.put(order, answers(order));
            }
            for (int thread = 0; thread < 2; thread++) {
                if (order.stream().filter(List.of(thread)::contains).count() < EACH) {
                    extend(Stream.concat(order.stream(), Stream.of(thread)).toList());
                }
            }
        }

        private String answers(List<Integer> order) {
            Made made = Made.of(kind);
            before.forEach(call -> call.answer(made));
            List<List<String>> answers = List.of(new ArrayList<>(), new ArrayList<>());
            for (int thread : order) {
                List<String> own = answers.get(thread);
                own.add(threads.get(thread).get(own.size()).answer(made));
            }
            return told(answers.get(0), answers.get(1), made);
        }

        private String told(List<String> first, List<String> second, Made made) {
            return first + " " + second + " " + after.stream().map(call -> call.answer(made)).toList();
        }

        void run() throws InterruptedException {
            Made made = Made.of(kind);
            before.forEach(call -> call.answer(made));
            Caller first = new Caller(threads.get(0), made);
            Caller second = new Caller(threads.get(1), made);
            first.other = second;
            second.other = first;
            first.start();
            second.start();
            first.join();
            second.join();
            String told = told(first.answers, second.answers, made);
            List<Caller> callers = List.of(first, second);
            if (orders.keySet().stream().noneMatch(order -> told.equals(orders.get(order)) && fits(order, callers))) {
                throw new AssertionError("no order of the calls has these answers");
            }
        }

        /** Whether an order has what had ended before what began after it. */
        private static boolean fits(List<Integer> order, List<Caller> callers) {
            int[] made = {0, 0};
            for (int thread : order) {
                if (made[1 - thread] < callers.get(thread).began.get(made[thread]++)) {
                    return false;
                }
            }
            return true;
        }
    }

    /** A thread, which makes its calls. */
    static final class Caller extends Thread {

        private final List<Call> calls;
        private final Made made;
        private Caller other;
        private volatile int ended;
        private final List<String> answers = new ArrayList<>();
        /** For each call, how many of the other thread had ended when it began. */
        private final List<Integer> began = new ArrayList<>();

        Caller(List<Call> calls, Made made) {
            this.calls = calls;
            this.made = made;
        }

        @Override
        public void run() {
            for (Call call : calls) {
                began.add(other.ended);
                answers.add(call.answer(made));
                ended++;
            }
        }
    }
}
