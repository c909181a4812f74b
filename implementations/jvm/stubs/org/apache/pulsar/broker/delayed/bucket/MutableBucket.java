package org.apache.pulsar.broker.delayed.bucket;

class MutableBucket {
    native long size();
}
