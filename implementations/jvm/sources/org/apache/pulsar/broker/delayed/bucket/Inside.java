package org.apache.pulsar.broker.delayed.bucket;

import com.google.common.collect.Range;
import java.util.Map;

/** What is asked of a tracker in one call from inside its package: calls from Python are expensive. */
public class Inside {

    public static long size(MutableBucket bucket) {
        return bucket.size();
    }

    /** First and last ledger, current and last segment of each placed bucket, with blanks in between. */
    public static String placed(BucketDelayedDeliveryTracker tracker) {
        StringBuilder text = new StringBuilder();
        for (Map.Entry<Range<Long>, ImmutableBucket> placed :
                tracker.getImmutableBuckets().asMapOfRanges().entrySet()) {
            Range<Long> ledgers = placed.getKey();
            ImmutableBucket bucket = placed.getValue();
            text.append(ledgers.lowerEndpoint()).append(' ').append(ledgers.upperEndpoint()).append(' ');
            text.append(bucket.getCurrentSegmentEntryId()).append(' ').append(bucket.getLastSegmentEntryId()).append(' ');
        }
        return text.toString();
    }
}
