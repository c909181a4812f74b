import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.Bootstrap;
import com.sun.jdi.Location;
import com.sun.jdi.Method;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.request.EventRequest;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Pauses threads at places in released classes, as an operating system may do at any place.
 *
 * <p>A debugger does it, in this process. It stops only the thread that comes to the place, and no class is changed.
 */
class Pauses {
    final VirtualMachine machine;
    final Map<Location, Pause> pauses = new ConcurrentHashMap<>();

    /** Needs the options of Java that `run.py` names DEBUGGER. */
    Pauses() throws Exception {
        var attach = Bootstrap.virtualMachineManager().attachingConnectors().stream()
                .filter(connector -> connector.name().equals("com.sun.jdi.ProcessAttach")).findFirst().orElseThrow();
        var arguments = attach.defaultArguments();
        arguments.get("pid").setValue(Long.toString(ProcessHandle.current().pid()));
        machine = attach.attach(arguments);
        var thread = new Thread(this::serve, "pauses");
        thread.setDaemon(true);
        thread.start();
    }

    /** What is done while a thread is paused; the thread goes on after that. */
    interface Pause {
        void pause() throws Exception;
    }

    /**
     * Pauses each thread that comes to a place in the one method of a class that a condition finds. The answer can be
     * disabled, and enabled again.
     */
    EventRequest at(Class<?> type, Predicate<Method> method, Function<Method, Location> place, Pause pause)
            throws Exception {
        Class.forName(type.getName()); // the debugger knows only what is loaded
        var found = machine.classesByName(type.getName()).get(0).methods().stream().filter(method).toList();
        if (found.size() != 1) {
            throw new IllegalStateException("not one method in " + type + ": " + found);
        }
        var location = place.apply(found.get(0));
        pauses.put(location, pause);
        var stop = machine.eventRequestManager().createBreakpointRequest(location);
        stop.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
        stop.enable();
        return stop;
    }

    /** The place before the last instruction, which is the return of a method that returns nothing. */
    static Location end(Method method) {
        return method.locationOfCodeIndex(method.bytecodes().length - 1);
    }

    /** The place before the second line of code. */
    static Location secondLine(Method method) {
        try {
            return method.allLineLocations().get(1);
        } catch (AbsentInformationException absent) {
            throw new IllegalStateException(absent);
        }
    }

    private void serve() {
        try {
            while (true) {
                var events = machine.eventQueue().remove();
                new Thread(() -> pause(events), "pause").start(); // another thread may come to a place meanwhile
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void pause(EventSet events) {
        try {
            for (var event : events) {
                if (event instanceof BreakpointEvent stop) {
                    pauses.get(stop.location()).pause();
                }
            }
        } catch (Exception error) {
            throw new IllegalStateException(error);
        } finally {
            events.resume();
        }
    }
}
