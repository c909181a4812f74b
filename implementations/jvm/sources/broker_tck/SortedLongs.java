package broker_tck;

import java.nio.ByteBuffer;
import java.util.TreeSet;
import java.util.function.LongConsumer;
import org.apache.pulsar.common.util.collections.LongBitmap;
import org.roaringbitmap.RoaringBitmap;

/**
 * A bitmap's stand-in, which refuses what the bitmap refuses, ids outside of 0 to 2^32 - 1. Its size in bytes means
 * nothing. Written out it is a roaring bitmap.
 */
public class SortedLongs implements LongBitmap {

    private final TreeSet<Long> ids = new TreeSet<>();

    @Override
    public boolean checkedAdd(long id) {
        if (id >>> 32 != 0) {
            throw new IllegalArgumentException();
        }
        return ids.add(id);
    }

    @Override
    public void add(long id) {
        checkedAdd(id);
    }

    @Override
    public boolean contains(long id) {
        return ids.contains(id);
    }

    @Override
    public boolean remove(long id) {
        return ids.remove(id);
    }

    @Override
    public boolean isEmpty() {
        return ids.isEmpty();
    }

    @Override
    public long cardinality() {
        return ids.size();
    }

    @Override
    public long serializedSize() {
        return ids.size();
    }

    @Override
    public void or(LongBitmap other) {
        ids.addAll(((SortedLongs) other).ids);
    }

    @Override
    public void forEachLong(LongConsumer consumer) {
        for (long id : ids) {
            consumer.accept(id);
        }
    }

    @Override
    public long drainTo(long most, LongConsumer consumer) {
        long drained = 0;
        while (drained < most && !ids.isEmpty()) {
            consumer.accept(ids.pollFirst());
            drained++;
        }
        return drained;
    }

    @Override
    public byte[] serialize() {
        RoaringBitmap bitmap = new RoaringBitmap();
        for (long id : ids) {
            bitmap.add((int) id);
        }
        ByteBuffer bytes = ByteBuffer.allocate(bitmap.serializedSizeInBytes());
        bitmap.serialize(bytes);
        return bytes.array();
    }
}
