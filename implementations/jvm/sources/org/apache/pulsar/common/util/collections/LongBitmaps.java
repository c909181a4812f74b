package org.apache.pulsar.common.util.collections;

import broker_tck.SortedLongs;
import io.netty.buffer.ByteBuf;
import org.roaringbitmap.IntIterator;
import org.roaringbitmap.RoaringBitmap;

/** Makes bitmaps: see {@link LongBitmap}. */
public class LongBitmaps {

    public static LongBitmap create() {
        return new SortedLongs();
    }

    public static LongBitmap deserialize(ByteBuf bytes) {
        RoaringBitmap bitmap = new RoaringBitmap();
        bitmap.deserialize(bytes.nioBuffer());
        LongBitmap ids = create();
        for (IntIterator each = bitmap.getIntIterator(); each.hasNext(); ) {
            ids.add(Integer.toUnsignedLong(each.next()));
        }
        return ids;
    }
}
