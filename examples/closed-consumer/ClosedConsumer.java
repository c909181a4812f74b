import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.netty.util.HashedWheelTimer;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.MessageId;
import org.apache.pulsar.client.api.MessageIdAdv;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.api.SubscriptionInitialPosition;
import org.apache.pulsar.client.api.SubscriptionMode;
import org.apache.pulsar.client.api.SubscriptionType;
import org.apache.pulsar.client.impl.PulsarClientImpl;

/**
 * A consumer that is closed while others acknowledge keeps its timer, and the timer keeps the consumer.
 *
 * <p>Four clients of one broker open consumers with an ack timeout, use and close them. They differ in who
 * acknowledges beside the close, and in whether the broker is there. Arguments: the folder for all data, and how many
 * consumers a client closes.
 */
class ClosedConsumer {
    static final int MESSAGES = 100;
    static final int THREADS = 32;
    static final int TICK = 100; // ms, the shortest that a client takes
    static final int LATER = 10;

    public static void main(String[] arguments) {
        WholeBroker.tell(arguments[0], settings -> { }, servers -> {
            WholeBroker.say("One broker, one bookie, ZooKeeper; an ack timeout of 60 s, a tick of %d ms%n", TICK);
            var topic = filled(servers);
            return tell(Integer.parseInt(arguments[1]), servers, List.of(
                    new Client("there", "many", topic, servers), new Client("gone", "nobody", topic, servers),
                    new Client("gone", "many", topic, servers), new Client("gone", "slow", topic, servers)));
        });
    }

    /** A topic with messages, each an entry of its own. */
    static String filled(WholeBroker servers) throws Exception {
        var topic = servers.topic("many");
        try (var producer = servers.client.newProducer(Schema.INT32).topic(topic).enableBatching(false).create()) {
            for (int i = 0; i < MESSAGES; i++) {
                producer.send(i);
            }
        }
        return topic;
    }

    /** The steps, in a line each. */
    static int tell(int closes, WholeBroker servers, List<Client> clients) throws Exception {
        WholeBroker.line("the broker is", clients, client -> client.broker);
        WholeBroker.line("who acknowledges beside the close", clients, client -> client.who);
        WholeBroker.line("consumers are opened", clients, client -> client.open(closes));
        WholeBroker.line("    timers", clients, client -> client.timers());
        clients.get(0).close();
        servers.broker.close();
        for (var client : clients.subList(1, clients.size())) {
            client.close();
        }
        WholeBroker.line("consumers are closed", clients, client -> client.closed.size());
        SECONDS.sleep(5); // attempts to connect again are over
        look(clients);
        SECONDS.sleep(LATER);
        WholeBroker.say("%d s later", LATER);
        look(clients);
        var left = clients.stream().map(Client::timers).toList();
        WholeBroker.line("the client is closed", clients, client -> client.end());
        WholeBroker.line("    consumers in memory", clients, client -> client.consumers() + " left");
        return verdict(closes, left.get(0), left.get(1), left.get(2), left.get(3));
    }

    static void look(List<Client> clients) throws Exception {
        WholeBroker.line("    timers", clients, client -> client.timers() + " left");
        WholeBroker.line("    consumers in memory", clients, client -> client.consumers() + " left");
    }

    static int verdict(int closes, long there, long nobody, long many, long slow) {
        WholeBroker.say("");
        if (nobody > 0) {
            WholeBroker.say("NO VERDICT: timers are also left if nobody acknowledges.");
            return WholeBroker.NO_VERDICT;
        }
        if (there + many + slow == 0) {
            WholeBroker.say("NONE LEFT: of %d closed consumers, no timer is left.", 4 * closes);
            return WholeBroker.NO_HARM;
        }
        WholeBroker.say("LEFT: timers of closed consumers tick on until the client is closed, and hold the consumers.");
        return WholeBroker.HARM;
    }

    /** A client, its consumers, and what is left of them. */
    static class Client {
        final String broker;
        final String who;
        final String topic;
        PulsarClient client;
        final List<Consumer<Integer>> open = new ArrayList<>();
        final List<MessageId> received = new ArrayList<>();
        final List<WeakReference<Consumer<?>>> closed = new ArrayList<>();

        Client(String broker, String who, String topic, WholeBroker servers) throws Exception {
            this.broker = broker;
            this.who = who;
            this.topic = topic;
            this.client = PulsarClient.builder().serviceUrl(servers.broker.getBrokerServiceUrl())
                    .statsInterval(0, SECONDS) // statistics have timers too
                    .maxBackoffInterval(1, SECONDS).build(); // so do attempts to connect again
        }

        /** New consumers, each of which has received all messages. */
        int open(int count) throws Exception {
            for (int i = 0; i < count; i++) {
                var consumer = client.newConsumer(Schema.INT32).topic(topic).subscriptionName(broker + who + i)
                        .subscriptionType(SubscriptionType.Shared).subscriptionMode(SubscriptionMode.NonDurable)
                        .subscriptionInitialPosition(SubscriptionInitialPosition.Earliest)
                        .ackTimeout(60, SECONDS).ackTimeoutTickTime(TICK, MILLISECONDS).subscribe();
                received.clear();
                for (int j = 0; j < MESSAGES; j++) {
                    received.add(consumer.receive(30, SECONDS).getMessageId());
                }
                open.add(consumer);
            }
            return count;
        }

        /** Closes the consumers, one after the other, each while others acknowledge what it has received. */
        void close() throws Exception {
            while (!open.isEmpty()) {
                var consumer = open.remove(0);
                closed.add(new WeakReference<>(consumer));
                var slow = new SlowId((MessageIdAdv) received.get(0), new CountDownLatch(1));
                var acknowledge = switch (who) {
                    case "many" ->
                        Stream.generate(() -> new Thread(() -> acknowledge(consumer))).limit(THREADS).toList();
                    case "slow" -> List.of(new Thread(() -> consumer.acknowledgeAsync(slow)));
                    default -> List.<Thread>of();
                };
                acknowledge.forEach(Thread::start);
                slow.asked.await(who.equals("slow") ? 10 * TICK : 1 + closed.size() % 10, MILLISECONDS);
                consumer.close();
                for (var thread : acknowledge) {
                    thread.join();
                }
            }
        }

        /** Acknowledges all messages again and again, until the consumer is closed. */
        void acknowledge(Consumer<Integer> consumer) {
            while (!consumer.acknowledgeAsync(received).isCompletedExceptionally()) {
                received.forEach(consumer::acknowledgeAsync);
            }
        }

        long timers() {
            return ((HashedWheelTimer) ((PulsarClientImpl) client).timer()).pendingTimeouts();
        }

        /** How many of the closed consumers are still in memory after a collection. */
        long consumers() throws Exception {
            System.gc();
            MILLISECONDS.sleep(100);
            System.gc();
            return closed.stream().filter(consumer -> consumer.get() != null).count();
        }

        String end() throws Exception {
            client.close();
            client = null;
            return "yes";
        }
    }

    /** The id of a message, as an application may make one. Its hash code, which the tracker asks for, takes a tick. */
    record SlowId(MessageIdAdv id, CountDownLatch asked) implements MessageIdAdv {
        @Override
        public long getLedgerId() {
            return id.getLedgerId();
        }

        @Override
        public long getEntryId() {
            return id.getEntryId();
        }

        @Override
        public byte[] toByteArray() {
            return id.toByteArray();
        }

        @Override
        public boolean equals(Object other) {
            return id.equals(other);
        }

        @Override
        public int hashCode() {
            asked.countDown();
            try {
                MILLISECONDS.sleep(TICK * 3 / 2);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
            return id.hashCode();
        }
    }
}
