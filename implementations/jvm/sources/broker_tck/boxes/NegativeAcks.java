package broker_tck.boxes;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.pulsar.client.api.MessageId;
import org.apache.pulsar.client.impl.Nack;

/** A tracker of negative acks. */
public final class NegativeAcks extends Redelivering {

    /** Ids of a request, as ConsumerImpl makes them. */
    private static final int REQUEST = 1_000;

    private final Object tracker;

    public NegativeAcks(Map<String, Object> config) throws Throwable {
        super(config, 1);
        tracker = Released.make(CLIENT + "NegativeAcksTracker", consumer, configured(config));
    }

    private static Object configured(Map<String, Object> config) throws Throwable {
        Object java = Released.make(CLIENT + "conf.ConsumerConfigurationData");
        Released.call(java, "setNegativeAckRedeliveryDelayMicros", config.get("delay_us"));
        if (Released.has(java, "setNegativeAckPrecisionBitCnt")) {
            Released.call(java, "setNegativeAckPrecisionBitCnt", Values.number(config.get("precision_bits")));
        }
        Object[] multiplier = (Object[]) config.get("multiplier");
        if (multiplier != null) {
            Object builder = Released.callStatic(CLIENT + "MultiplierRedeliveryBackoff", "builder");
            Released.call(builder, "minDelayMs", multiplier[0]);
            Released.call(builder, "maxDelayMs", multiplier[1]);
            Released.call(builder, "multiplier", ((Number) multiplier[2]).doubleValue());
            Released.call(java, "setNegativeAckRedeliveryBackoff", Released.call(builder, "build"));
        } else if (config.get("backoff_ms") != null) {
            Released.call(java, "setNegativeAckRedeliveryBackoff", backoff(config.get("backoff_ms")));
        }
        return java;
    }

    @Override
    Object more(String name, Object[] a) throws Throwable {
        switch (name) {
            case "nack":
                return nack(id(a[0], a[1]), a[2]);
            case "id":
                Released.call(tracker, "add", id(a[0], a[1]));
                return null;
            case "batch":
                return nack(inBatch(a[0], a[1], a[2]), a[3]);
            case "chunked":
                return nack(chunked((Long) a[0], (Long) a[1], (Long) a[2], (Long) a[4]), a[3]);
            case "fill":
                return fill(a);
            case "jump":
                ahead += (Long) a[0];
                tell();
                return null;
            default:
                throw new NoSuchMethodError(name);
        }
    }

    private Object nack(Object id, Object count) throws Throwable {
        Released.call(tracker, "add", new Nack((MessageId) id, Values.number(count)));
        return null;
    }

    private Object fill(Object[] a) throws Throwable {
        long ledgers = (Long) a[5];
        long turns = (Long) a[7] == 0 ? Math.max(1, (Long) a[3]) : (Long) a[7];
        for (long i = 0; i < (Long) a[3]; i++) {
            long ledger = (Long) a[0] + i % ledgers;
            long entry = (Long) a[1] + i / ledgers * (Long) a[2];
            Object count = Math.min((Long) a[4] + i % turns * (Long) a[6], Integer.MAX_VALUE);
            nack((Long) a[8] > 1 ? chunked(ledger, entry, (Long) a[8], 1) : id(ledger, entry), count);
        }
        return null;
    }

    @Override
    Object[] inner(Object[] a) {
        return a[0].equals("close") ? new Object[] {a[0]} : a;
    }

    @Override
    void close() throws Throwable {
        Released.call(tracker, "close");
        forgetChunks();
    }

    @Override
    Object[] told(MessageId id) throws Throwable {
        return Values.pair(Released.call(id, "getLedgerId"), Released.call(id, "getEntryId"));
    }

    /** An entry is told once, however many of its messages there are. */
    @Override
    List<Object> list(Set<MessageId> ids) {
        return new ArrayList<>(new LinkedHashSet<>(super.list(ids)));
    }

    /** The sizes of the requests; all of them in full if they are not for the ids of the callback. */
    @Override
    Object requests(Sent of) {
        List<Object> ids = new ArrayList<>();
        List<Object> sizes = new ArrayList<>();
        for (List<Object> request : of.requests) {
            ids.addAll(request);
            for (int left = request.size(); left > 0; left -= REQUEST) {
                sizes.add(Math.min(left, REQUEST));
            }
        }
        if (sizes.isEmpty() || of.failed && of.ids.containsAll(ids)) {
            return 0;
        }
        if (!ids.equals(of.ids)) {
            return of.requests;
        }
        return sizes.size() == 1 ? (Object) 1 : sizes;
    }

    @Override
    public Object[] seen() throws Throwable {
        Object count = Released.call(tracker, "getNackedMessagesCount");
        if (count instanceof Optional<?> found) {
            count = found.isPresent() ? found.get() : (Object) 0;
        }
        return new Object[] {count, wheel.armed()};
    }
}
