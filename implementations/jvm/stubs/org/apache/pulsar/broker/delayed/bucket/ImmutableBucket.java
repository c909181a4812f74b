package org.apache.pulsar.broker.delayed.bucket;

class ImmutableBucket {
    public native int getCurrentSegmentEntryId();

    public native int getLastSegmentEntryId();
}
