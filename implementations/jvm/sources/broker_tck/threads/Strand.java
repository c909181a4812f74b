package broker_tck.threads;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * What a thread does, in pieces: it runs when it is told to go on, until it pauses or ends.
 *
 * <p>It is a continuation of the JDK if there are any, from Java 21 on, and a thread of Java's if not.
 */
abstract class Strand {

    /** Go on, and come back when it has paused or ended. */
    abstract void resume();

    /** Called by what it does: pause until it is resumed. */
    abstract void pause();

    /** Never go on with it. */
    abstract void leave();

    static Strand of(int number, Runnable work) {
        return Continued.MAKE == null ? new Handed(number, work) : new Continued(work);
    }

    /** A continuation. Its class is no public one, and older Javas do not have it, so that it is called by handles. */
    private static final class Continued extends Strand {

        static final MethodHandle MAKE;
        private static final MethodHandle RUN;
        private static final MethodHandle YIELD;

        static {
            MethodHandle make = null;
            MethodHandle run = null;
            MethodHandle yield = null;
            try {
                MethodHandles.Lookup lookup = MethodHandles.lookup();
                Class<?> kind = Class.forName("jdk.internal.vm.Continuation");
                Class<?> scopes = Class.forName("jdk.internal.vm.ContinuationScope");
                MethodType named = MethodType.methodType(void.class, String.class);
                Object scope = lookup.findConstructor(scopes, named).invoke("broker-tck");
                MethodType made = MethodType.methodType(void.class, scopes, Runnable.class);
                make = lookup.findConstructor(kind, made).bindTo(scope)
                    .asType(MethodType.methodType(Object.class, Runnable.class));
                run = lookup.findVirtual(kind, "run", MethodType.methodType(void.class))
                    .asType(MethodType.methodType(void.class, Object.class));
                yield = lookup.findStatic(kind, "yield", MethodType.methodType(boolean.class, scopes)).bindTo(scope)
                    .asType(MethodType.methodType(void.class));
            } catch (ClassNotFoundException | IllegalAccessException none) {
                // threads of Java's take their place
            } catch (Throwable error) {
                throw new ExceptionInInitializerError(error);
            }
            MAKE = make;
            RUN = run;
            YIELD = yield;
        }

        private final Object java;

        Continued(Runnable work) {
            try {
                java = (Object) MAKE.invokeExact(work);
            } catch (Throwable error) {
                throw new AssertionError(error);
            }
        }

        @Override
        void resume() {
            try {
                RUN.invokeExact(java);
            } catch (Throwable error) {
                throw new AssertionError(error);
            }
        }

        @Override
        void pause() {
            try {
                YIELD.invokeExact();
            } catch (Throwable pinned) {
                throw new Stop("it holds a lock of Java's own");
            }
        }

        @Override
        void leave() {}
    }

    /** A thread of Java's that hands over to the one that resumes it. Threads are used again from run to run. */
    private static final class Handed extends Strand implements Runnable {

        private final Hand hand;
        private final Runnable work;
        private boolean left;

        Handed(int number, Runnable work) {
            this.work = work;
            hand = Hand.of(number);
            hand.work = this;
        }

        @Override
        public void run() {
            if (!left) {
                work.run();
            }
        }

        @Override
        void resume() {
            hand.over();
        }

        @Override
        void pause() {
            if (!left) {
                hand.back();
            }
            if (left) {
                throw new Stop(Stop.LEFT);
            }
        }

        @Override
        void leave() {
            left = true;
            hand.over();
        }
    }
}
