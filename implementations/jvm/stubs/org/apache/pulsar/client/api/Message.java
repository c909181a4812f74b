package org.apache.pulsar.client.api;

public interface Message {
    MessageId getMessageId();

    int getRedeliveryCount();
}
