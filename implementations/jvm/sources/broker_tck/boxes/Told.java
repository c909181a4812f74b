package broker_tck.boxes;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** What happens to readers and the storage within a call. */
final class Told {

    private final List<Object[]> events = new ArrayList<>();
    /** How often somebody was asked how many reads are expected. */
    long counted;

    /** Something happens: a name, then numbers, then whatever else. */
    void add(Object... event) {
        events.add(event);
    }

    /** All of it, in order. */
    List<Object[]> list() {
        events.sort(new InOrder());
        if (counted > 0) {
            add("counts", counted);
        }
        return events;
    }

    private static final class InOrder implements Comparator<Object> {

        @Override
        public int compare(Object first, Object second) {
            Object[] one = (Object[]) first;
            Object[] other = (Object[]) second;
            int order = ((String) one[0]).compareTo((String) other[0]);
            for (int i = 1; order == 0 && i < one.length && one[i] instanceof Long; i++) {
                order = Long.compare((Long) one[i], (Long) other[i]);
            }
            return order;
        }
    }
}
