import broker_tck.Cursor;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;
import org.apache.bookkeeper.mledger.impl.ActiveManagedCursorContainer;
import org.apache.bookkeeper.mledger.impl.ActiveManagedCursorContainerImpl;
import org.apache.bookkeeper.mledger.impl.ActiveManagedCursorContainerNavigableSetImpl;
import org.apache.bookkeeper.mledger.impl.ManagedCursorContainerImpl;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;

/** The containers of cursors as Lincheck has them: operations with drawn arguments. Names are of three cursors. */
@Param(name = "name", gen = IntGen.class, conf = "0:2")
@Param(name = "entry", gen = IntGen.class, conf = "0:4")
public abstract class CursorContainers {

    private final ActiveManagedCursorContainer container;
    private final Cursor[] cursors = {new Cursor("a", true, 0), new Cursor("b", false, 1), new Cursor("c", false, 2)};

    CursorContainers(ActiveManagedCursorContainer container) {
        this.container = container;
    }

    @Operation
    public void add(@Param(name = "name") int name, @Param(name = "entry") int entry) {
        container.add(cursors[name], at(entry));
    }

    @Operation
    public boolean remove(@Param(name = "name") int name) {
        return container.removeCursor(cursors[name].getName());
    }

    @Operation
    public void update(@Param(name = "name") int name, @Param(name = "entry") int entry) {
        container.updateCursor(cursors[name], at(entry));
    }

    @Operation
    public String slowest() {
        return String.valueOf(container.getSlowestCursorPosition());
    }

    @Operation
    public int count(@Param(name = "name") int name) {
        return ranks() ? container.getNumberOfCursorsAtSamePositionOrBefore(cursors[name]) : 0;
    }

    @Operation
    public int size() {
        return container.size();
    }

    boolean ranks() {
        return true;
    }

    private static Position at(int entry) {
        return PositionFactory.create(0, entry);
    }

    public static final class CursorHeap extends CursorContainers {
        public CursorHeap() {
            super(new ManagedCursorContainerImpl());
        }

        @Override
        boolean ranks() {
            return false;
        }
    }

    public static final class CursorTreeSet extends CursorContainers {
        public CursorTreeSet() {
            super(new ActiveManagedCursorContainerNavigableSetImpl());
        }
    }

    public static final class CursorList extends CursorContainers {
        public CursorList() {
            super(new ActiveManagedCursorContainerImpl());
        }
    }

    /** Prints the head of what Lincheck finds in a container; else it draws scenarios until it is ended from outside. */
    public static void main(String[] arguments) throws Exception {
        Class<?> kind = Class.forName("CursorContainers$" + arguments[0]);
        ModelCheckingOptions options = new ModelCheckingOptions();
        options.threads(2).actorsPerThread(3).actorsBefore(4).actorsAfter(3);
        options.invocationTimeout$lincheck(600_000); // else a busy machine makes it say that a call hangs
        options.iterations(Integer.MAX_VALUE).invocationsPerIteration(1000).minimizeFailedScenario(false);
        try {
            options.check(kind);
        } catch (LincheckAssertionError found) {
            System.out.println(found.getMessage().strip().lines().findFirst().orElseThrow());
        }
    }
}
