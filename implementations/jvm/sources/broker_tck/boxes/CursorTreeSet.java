package broker_tck.boxes;

import java.util.Map;

/** The sorted set. */
public final class CursorTreeSet extends Cursors {

    public CursorTreeSet(Map<String, Object> config) throws Throwable {
        super(config, "ActiveManagedCursorContainerNavigableSetImpl");
    }
}
