package org.apache.pulsar.client.impl;

import java.util.Set;
import org.apache.pulsar.client.api.MessageId;

/** A consumer that has an application redeliver, made without any constructor. */
public class StandInConsumer extends ConsumerBase<Object> {

    public PulsarClientImpl itsClient;
    public Application application;

    @Override
    public PulsarClientImpl getClient() {
        return itsClient;
    }

    @Override
    public String getTopic() {
        return "persistent://public/default/topic";
    }

    @Override
    public String getSubscription() {
        return "";
    }

    @Override
    public String toString() {
        return "";
    }

    @Override
    protected void onNegativeAcksSend(Set<MessageId> ids) {
        application.send(ids);
    }

    @Override
    protected void onAckTimeoutSend(Set<MessageId> ids) {
        application.send(ids);
    }

    @Override
    protected void redeliverUnacknowledgedMessages(Set<MessageId> ids) {
        application.request(ids);
    }
}
