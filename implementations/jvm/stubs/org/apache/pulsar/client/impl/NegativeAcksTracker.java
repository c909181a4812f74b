package org.apache.pulsar.client.impl;

import org.apache.pulsar.client.api.Message;

class NegativeAcksTracker {
    public native void add(Message message);

    native long getNackedMessagesCount();
}
