package broker_tck.boxes;

import broker_tck.Cursor;
import java.util.Map;

/** The heap before 4.2, whose callers cached what was added while it was not empty. */
public final class EarlierCursorHeap extends Cursors {

    public EarlierCursorHeap(Map<String, Object> config) throws Throwable {
        super(config, "ManagedCursorContainer");
    }

    @Override
    void move(Cursor cursor, Object to) throws Throwable {
        ask("cursorUpdated", cursor, to);
    }

    @Override
    Object slowest() throws Throwable {
        return ask("getSlowestReaderPosition");
    }

    @Override
    Object size() {
        return listed().size();
    }

    @Override
    Object caches() throws Throwable {
        return !(Boolean) ask("isEmpty");
    }
}
