package broker_tck.boxes;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** Values of JSON. */
final class Values {

    static int number(Object of) {
        return Math.toIntExact((Long) of);
    }

    static Object[] pair(Object first, Object second) {
        return new Object[] {first, second};
    }

    /** Arrays of numbers in ascending order, as lists, which can be compared. */
    static List<Object> sorted(List<Object[]> arrays) {
        arrays.sort(new Ascending());
        List<Object> sorted = new ArrayList<>();
        for (Object[] array : arrays) {
            sorted.add(Arrays.asList(array));
        }
        return sorted;
    }

    private static final class Ascending implements Comparator<Object> {

        @Override
        public int compare(Object one, Object other) {
            Object[] of = (Object[]) one;
            int order = 0;
            for (int i = 0; order == 0 && i < of.length; i++) {
                order = Long.compare((Long) of[i], (Long) ((Object[]) other)[i]);
            }
            return order;
        }
    }
}
