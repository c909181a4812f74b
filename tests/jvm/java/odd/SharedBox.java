package odd;

import broker_tck.threads.Box;
import java.lang.reflect.InvocationTargetException;
import java.util.Map;

/** One that threads call. */
public class SharedBox implements Box {

    private final Shared shared = new Shared();
    private final Object seen;

    public SharedBox(Map<String, Object> config) {
        seen = config.get("seen");
    }

    @Override
    public Object call(String name, Object[] arguments) throws Throwable {
        try {
            return Shared.class.getMethod(name).invoke(shared);
        } catch (InvocationTargetException error) {
            throw error.getCause();
        }
    }

    @Override
    public Object[] seen() {
        return new Object[] {seen};
    }
}
