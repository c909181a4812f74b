package broker_tck;

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

    @Override
    public MessageId getMessageId() {
        return id;
    }

    @Override
    public int getRedeliveryCount() {
        return count;
    }
}
