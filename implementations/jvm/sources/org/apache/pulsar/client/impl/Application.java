package org.apache.pulsar.client.impl;

import java.util.Set;
import org.apache.pulsar.client.api.MessageId;

/** What a consumer does as it redelivers. */
public interface Application {

    /** The callback. */
    void send(Set<MessageId> ids);

    /** The request to the broker. */
    void request(Set<MessageId> ids);
}
