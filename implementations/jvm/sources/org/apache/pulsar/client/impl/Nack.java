package org.apache.pulsar.client.impl;

import org.apache.pulsar.client.api.Message;
import org.apache.pulsar.client.api.MessageId;

/** A message that is nacked: trackers ask for its id and its redelivery count. */
public class Nack implements Message {

    private final MessageId id;
    private final int count;

    public Nack(MessageId id, int count) {
        this.id = id;
        this.count = count;
    }

    public static void add(NegativeAcksTracker tracker, MessageId id, int count) {
        tracker.add(new Nack(id, count));
    }

    /** The number of items that a tracker tracks, since 4.0.2. Before, the method answers with an Optional. */
    public static long number(NegativeAcksTracker tracker) {
        return tracker.getNackedMessagesCount();
    }

    @Override
    public MessageId getMessageId() {
        return id;
    }

    @Override
    public int getRedeliveryCount() {
        return count;
    }
}
