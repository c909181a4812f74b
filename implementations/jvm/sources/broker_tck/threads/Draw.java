package broker_tck.threads;

/** Numbers drawn from a seed, the same on every Java (SplitMix64). */
final class Draw {

    private long state;

    Draw(long seed) {
        state = seed;
    }

    /** A number from 0 to below a bound. */
    int below(int bound) {
        state += 0x9e3779b97f4a7c15L;
        long mixed = (state ^ state >>> 30) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94d049bb133111ebL;
        return (int) Long.remainderUnsigned(mixed ^ mixed >>> 31, bound);
    }
}
