package broker_tck.threads;

import java.util.Arrays;

/** A list of numbers. */
final class Numbers {

    private int[] all = new int[256];
    private int size;

    void add(int number) {
        if (size == all.length) {
            all = Arrays.copyOf(all, 2 * size);
        }
        all[size++] = number;
    }

    int[] toArray() {
        return Arrays.copyOf(all, size);
    }
}
