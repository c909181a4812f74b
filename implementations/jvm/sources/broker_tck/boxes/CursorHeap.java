package broker_tck.boxes;

import java.util.Map;

/** The heap. */
public final class CursorHeap extends Cursors {

    public CursorHeap(Map<String, Object> config) throws Throwable {
        super(config, "ManagedCursorContainerImpl");
    }
}
