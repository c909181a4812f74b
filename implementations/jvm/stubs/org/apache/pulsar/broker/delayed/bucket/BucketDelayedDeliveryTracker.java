package org.apache.pulsar.broker.delayed.bucket;

import com.google.common.collect.RangeMap;

public class BucketDelayedDeliveryTracker {
    public native RangeMap<Long, ImmutableBucket> getImmutableBuckets();
}
