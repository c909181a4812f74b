package broker_tck.boxes;

import java.util.Map;

/** The list. */
public final class CursorList extends Cursors {

    public CursorList(Map<String, Object> config) throws Throwable {
        super(config, "ActiveManagedCursorContainerImpl", config.get("grace"));
    }
}
