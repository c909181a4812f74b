package broker_tck.boxes;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.pulsar.client.api.MessageId;

/** A tracker of ack timeouts, of the class that a consumer with such a configuration has. */
public final class AckTimeouts extends Redelivering {

    private static final String TENANT = "persistent://public/default/";

    private final Object tracker;
    private final Object[] topics;
    /** From how many chunks each message is made that was added. */
    private final Map<List<Object>, Long> parts = new HashMap<>();

    public AckTimeouts(Map<String, Object> config) throws Throwable {
        super(config, MILLISECOND);
        topics = (Object[]) config.get("topics");
        Object java = Released.make(CLIENT + "conf.ConsumerConfigurationData");
        Released.call(java, "setAckTimeoutMillis", config.get("ack_timeout"));
        Released.call(java, "setTickDurationMillis", config.get("tick"));
        boolean backs = config.get("backoff") != null;
        if (backs) {
            Released.call(java, "setAckTimeoutRedeliveryBackoff", backoff(config.get("backoff")));
        }
        String kind = "UnAcked" + (topics.length > 0 ? "Topic" : "") + "Message" + (backs ? "Redelivery" : "");
        tracker = Released.make(CLIENT + kind + "Tracker", client, consumer, java);
    }

    @Override
    Object more(String name, Object[] a) throws Throwable {
        switch (name) {
            case "add":
                parts.put(List.of(a[0], a[1]), (Long) a[4]);
                return Released.call(tracker, "add", message(a[0], a[1], a[3]), Values.number(a[2]));
            case "remove":
                return Released.call(tracker, "remove", message(a[0], a[1], a[2]));
            case "till":
                return Released.call(tracker, "removeMessagesTill", message(a[0], a[1], a[2]));
            case "leave":
                return topics.length == 0 ? (Object) 0 : Released.call(tracker, "removeTopicMessages", TENANT + a[0]);
            case "clear":
                return Released.call(tracker, "clear");
            default:
                throw new NoSuchMethodError(name);
        }
    }

    /** The id of a message. */
    private Object message(Object ledger, Object entry, Object index) throws Throwable {
        long chunks = parts.getOrDefault(List.of(ledger, entry), 1L);
        Object id;
        if ((Long) index >= 0) {
            id = inBatch(ledger, entry, index);
        } else if (chunks > 1) {
            id = chunked((Long) ledger, (Long) entry, chunks, 1);
        } else {
            id = id(ledger, entry);
        }
        if (topics.length == 0) {
            return id;
        }
        String topic = TENANT + topics[(int) ((Long) ledger % topics.length)];
        return Released.make(CLIENT + "TopicMessageIdImpl", topic, id);
    }

    @Override
    Object[] inner(Object[] a) {
        if (a[0].equals("add")) {
            return new Object[] {a[0], a[1], a[2], 0L, -1L, 1L};
        }
        return a[0].equals("remove") ? new Object[] {a[0], a[1], a[2], -1L} : new Object[] {a[0]};
    }

    @Override
    void close() throws Throwable {
        Released.call(tracker, "close");
    }

    @Override
    Object[] told(MessageId id) throws Throwable {
        Object ledger = Released.call(id, "getLedgerId");
        Object index = ((Number) Released.call(id, "getBatchIndex")).longValue();
        return new Object[] {ledger, Released.call(id, "getEntryId"), index};
    }

    /** How many there were; all of them in full if they are not for the ids of the callback. */
    @Override
    Object requests(Sent of) {
        for (List<Object> request : of.requests) {
            if (!request.equals(of.ids)) {
                return of.requests;
            }
        }
        return of.requests.size();
    }

    @Override
    public Object[] seen() throws Throwable {
        return new Object[] {Released.call(tracker, "size"), wheel.armed()};
    }
}
