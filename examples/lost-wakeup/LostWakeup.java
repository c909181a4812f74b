import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import com.sun.jdi.Method;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.pulsar.broker.delayed.BucketDelayedDeliveryTrackerFactory;
import org.apache.pulsar.broker.delayed.bucket.BucketDelayedDeliveryTracker;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.api.SubscriptionType;

/**
 * Delayed messages are due and wait, because the timer of a load fired before the load counted as ended.
 *
 * <p>The same steps are taken on five topics of one broker. On four of them a debugger pauses the thread that has
 * loaded a segment: on one before this thread arms the timer, on three after that. Arguments: the folder for all data,
 * and how many seconds the example waits for messages that are due.
 */
class LostWakeup {
    static final int TICK = 1000; // ms, the default
    static final int PAUSE = 2 * TICK; // the timer fires at the end of a tick
    static final int MESSAGES = 3;
    static final int FIRST = 8; // s; the bucket is stored by then

    public static void main(String[] arguments) {
        WholeBroker.tell(arguments[0], settings -> {
            settings.setDelayedDeliveryTrackerFactoryClassName(BucketDelayedDeliveryTrackerFactory.class.getName());
            settings.setDelayedDeliveryTickTimeMillis(TICK);
            settings.setDelayedDeliveryMinIndexCountPerBucket(MESSAGES - 1); // the last message begins the next bucket
            settings.setDelayedDeliveryMaxIndexesPerBucketSnapshotSegment(1);
            settings.setManagedLedgerMaxEntriesPerLedger(MESSAGES - 1);
            settings.setManagedLedgerMinLedgerRolloverTimeMinutes(0);
        }, servers -> {
            WholeBroker.say("One broker, one bookie, ZooKeeper; BucketDelayedDeliveryTrackerFactory, "
                    + "a tick of %d ms, pauses of %d ms%n", TICK, PAUSE);
            var load = new Load(new Pauses());
            return tell(Integer.parseInt(arguments[1]), load, List.of(
                    new Topic("not", "nothing", servers), new Topic("before", "nothing", servers),
                    new Topic("after", "nothing", servers), new Topic("after", "a message", servers),
                    new Topic("after", "a consumer", servers)));
        });
    }

    /** The steps, in a line each. */
    static int tell(int wait, Load load, List<Topic> topics) throws Exception {
        WholeBroker.line("a load is paused as it arms the timer", topics, topic -> topic.paused);
        WholeBroker.line("messages are sent, due in", topics, topic -> topic.send(load));
        WholeBroker.line("    " + wait + " s later are received", topics, topic -> topic.received(wait));
        WholeBroker.line("then comes", topics, topic -> topic.come());
        WholeBroker.line("    10 s later are received", topics, topic -> topic.received(10));
        return verdict(wait, topics.get(0), topics.get(1), topics.get(2));
    }

    static int verdict(int wait, Topic not, Topic before, Topic after) {
        WholeBroker.say("");
        if (not.received.size() + before.received.size() < 2 * MESSAGES) {
            WholeBroker.say("NO VERDICT: messages also wait if no load is paused after it has armed the timer.");
            return WholeBroker.NO_VERDICT;
        }
        if (after.received.size() == MESSAGES) {
            WholeBroker.say("IN TIME: all messages were received, although loads were paused.");
            return WholeBroker.NO_HARM;
        }
        WholeBroker.say("WAITING: messages were due %d s ago, and wait until something comes.", wait + 10);
        return WholeBroker.HARM;
    }

    /** The end of a load, which arms the timer: the one place at which threads are paused. */
    static class Load {
        volatile String paused = "not";

        Load(Pauses pauses) throws Exception {
            pauses.at(BucketDelayedDeliveryTracker.class, Load::ends, Method::location, () -> pause("before"));
            pauses.at(BucketDelayedDeliveryTracker.class, Load::ends, Pauses::end, () -> pause("after"));
        }

        /** Whether a method is what `getScheduledMessages` has done when a load ends. */
        static boolean ends(Method method) {
            return method.name().startsWith("lambda$getScheduledMessages$")
                    && method.signature().endsWith("Ljava/lang/Void;Ljava/lang/Throwable;)V");
        }

        void pause(String where) throws InterruptedException {
            if (where.equals(paused)) {
                MILLISECONDS.sleep(PAUSE);
            }
        }
    }

    /** A topic with a shared subscription, and what a user does with it. */
    static class Topic {
        final String paused;
        final String comes;
        final String name;
        final WholeBroker servers;
        final Producer<Integer> producer;
        final Set<Integer> received = ConcurrentHashMap.newKeySet();

        Topic(String paused, String comes, WholeBroker servers) throws Exception {
            this.paused = paused;
            this.comes = comes;
            this.name = servers.topic(paused + " " + comes);
            this.servers = servers;
            this.producer = servers.client.newProducer(Schema.INT32).topic(name).enableBatching(false).create();
            consume();
        }

        void consume() throws Exception {
            servers.client.newConsumer(Schema.INT32).topic(name).subscriptionName("s")
                    .subscriptionType(SubscriptionType.Shared).messageListener((consumer, message) -> {
                        if (message.getValue() < MESSAGES) {
                            received.add(message.getValue());
                        }
                        consumer.acknowledgeAsync(message);
                    }).subscribe();
        }

        /** Messages that are due a second after each other; until the last one is due, loads of this topic are paused. */
        String send(Load load) throws Exception {
            load.paused = paused;
            long first = System.currentTimeMillis() + SECONDS.toMillis(FIRST);
            for (int i = 0; i < MESSAGES; i++) {
                producer.newMessage().value(i).deliverAt(first + SECONDS.toMillis(i)).send();
            }
            SECONDS.sleep(FIRST + MESSAGES);
            load.paused = "not";
            return FIRST + " to " + (FIRST + MESSAGES - 1) + " s";
        }

        /** How many of the messages are received within so many seconds. */
        String received(int wait) throws Exception {
            WholeBroker.reached(wait, () -> received.size() == MESSAGES);
            return received.size() + " of " + MESSAGES;
        }

        String come() throws Exception {
            switch (comes) {
                case "a message" -> producer.send(MESSAGES);
                case "a consumer" -> consume();
                default -> { }
            }
            return comes;
        }
    }
}
