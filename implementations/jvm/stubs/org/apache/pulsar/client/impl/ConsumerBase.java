package org.apache.pulsar.client.impl;

import java.util.Set;
import org.apache.pulsar.client.api.MessageId;

public abstract class ConsumerBase<T> {
    public native PulsarClientImpl getClient();

    public native String getTopic();

    public native String getSubscription();

    protected native void onNegativeAcksSend(Set<MessageId> ids);

    protected native void onAckTimeoutSend(Set<MessageId> ids);

    protected abstract void redeliverUnacknowledgedMessages(Set<MessageId> ids);
}
