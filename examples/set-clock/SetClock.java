import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import java.lang.reflect.Field;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.apache.pulsar.broker.delayed.AbstractDelayedDeliveryTracker;
import org.apache.pulsar.broker.service.persistent.PersistentDispatcherMultipleConsumers;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.api.SubscriptionType;

/**
 * A delayed message waits for an hour, because the clock was set back after the timer of its subscription had run.
 *
 * <p>The same steps are taken on four topics of one broker. On three of them the tracker's clock is set back, and on
 * two of these something comes later that makes the broker ask the tracker. Arguments: the folder for all data, and
 * how many seconds the example waits for a message.
 */
class SetClock {
    static final Duration BACK = Duration.ofHours(-1);
    static final int LATER = 10;

    public static void main(String[] arguments) {
        WholeBroker.tell(arguments[0], settings -> { }, servers -> {
            var settings = servers.broker.getConfiguration();
            var factory = settings.getDelayedDeliveryTrackerFactoryClassName();
            WholeBroker.say("One broker, one bookie, ZooKeeper; %s, a tick of %d ms%n",
                    factory.substring(factory.lastIndexOf('.') + 1), settings.getDelayedDeliveryTickTimeMillis());
            return tell(Integer.parseInt(arguments[1]), List.of(
                    new Topic(false, "nothing", servers), new Topic(true, "nothing", servers),
                    new Topic(true, "a message", servers), new Topic(true, "a consumer", servers)));
        });
    }

    /** The steps, in a line each. */
    static int tell(int wait, List<Topic> topics) throws Exception {
        WholeBroker.line("", topics, topic -> topic.set ? "set back" : "kept");
        WholeBroker.line("a message is sent, due in", topics, topic -> topic.send("first", 3));
        WholeBroker.line("    it is received after", topics, topic -> topic.received("first", wait));
        WholeBroker.line("the clock is set back by an hour", topics, topic -> topic.set ? topic.setBack() : "no");
        WholeBroker.line("a message is sent, due in", topics, topic -> topic.send("second", 5));
        WholeBroker.line("    the timer fires in", topics, topic -> topic.timer());
        SECONDS.sleep(LATER);
        WholeBroker.line(LATER + " s later comes", topics, topic -> topic.come());
        WholeBroker.line("    the second message is received after", topics, topic -> topic.received("second", wait));
        return verdict(wait, topics.get(0), topics.get(1));
    }

    static int verdict(int wait, Topic kept, Topic quiet) {
        WholeBroker.say("");
        if (!kept.received.containsKey("second")) {
            WholeBroker.say("NO VERDICT: the message is also late if the clock is kept.");
            return WholeBroker.NO_VERDICT;
        }
        if (quiet.received.containsKey("second")) {
            WholeBroker.say("IN TIME: the message due in 5 s was received, although the clock was set back.");
            return WholeBroker.NO_HARM;
        }
        WholeBroker.say("LATE: the clock was set back, and the message due in 5 s was not received in %d s.", wait);
        return WholeBroker.HARM;
    }

    /** A topic with a shared subscription, its clock, and what a user does with it. Times are of `System.nanoTime`. */
    static class Topic {
        final boolean set;
        final String comes;
        final String name;
        final WholeBroker servers;
        final Producer<String> producer;
        final Map<String, Long> sent = new ConcurrentHashMap<>();
        final Map<String, Long> received = new ConcurrentHashMap<>();
        Clock clock = Clock.systemUTC();

        Topic(boolean set, String comes, WholeBroker servers) throws Exception {
            this.set = set;
            this.comes = comes;
            this.name = servers.topic((set ? "set " : "kept ") + comes);
            this.servers = servers;
            this.producer = servers.client.newProducer(Schema.STRING).topic(name).enableBatching(false).create();
            consume();
        }

        /** A new consumer, which notes when each message comes, and acknowledges it. */
        void consume() throws Exception {
            servers.client.newConsumer(Schema.STRING).topic(name).subscriptionName("s")
                    .subscriptionType(SubscriptionType.Shared).messageListener((consumer, message) -> {
                        received.put(message.getValue(), System.nanoTime());
                        consumer.acknowledgeAsync(message);
                    }).subscribe();
        }

        /** Sends a message that is due in so many seconds, by this topic's clock. */
        String send(String message, int seconds) throws Exception {
            sent.put(message, System.nanoTime());
            producer.newMessage().value(message).deliverAt(clock.millis() + SECONDS.toMillis(seconds)).send();
            return seconds + " s";
        }

        /** After how long a message was received, if it is so many seconds after it was sent. */
        String received(String message, int seconds) throws Exception {
            long passed = NANOSECONDS.toSeconds(System.nanoTime() - sent.get(message));
            WholeBroker.reached((int) (seconds - passed), () -> received.containsKey(message));
            return received.containsKey(message)
                    ? String.format("%.1f s", (received.get(message) - sent.get(message)) / 1e9)
                    : "not yet";
        }

        /** Gives the tracker an earlier clock; all else about it stays as the broker has made it. */
        String setBack() throws Exception {
            clock = Clock.offset(clock, BACK);
            field("clock").set(tracker(), clock);
            return "yes";
        }

        /** In how many seconds the tracker's timer fires, when the tracker has the message. */
        String timer() throws Exception {
            WholeBroker.reached(10, () -> tracker().getNumberOfDelayedMessages() == 1);
            var deadline = Pattern.compile("deadline: (\\d+) ns later").matcher(field("timeout").get(tracker()) + "");
            return deadline.find() ? NANOSECONDS.toSeconds(Long.parseLong(deadline.group(1))) + " s" : "no time";
        }

        String come() throws Exception {
            switch (comes) {
                case "a message" -> producer.send("third");
                case "a consumer" -> consume();
                default -> { }
            }
            return comes;
        }

        AbstractDelayedDeliveryTracker tracker() throws Exception {
            var topic = servers.broker.getBrokerService().getTopicReference(name).orElseThrow();
            var trackers = PersistentDispatcherMultipleConsumers.class.getDeclaredField("delayedDeliveryTracker");
            trackers.setAccessible(true);
            var tracker = (Optional<?>) trackers.get(topic.getSubscription("s").getDispatcher());
            return (AbstractDelayedDeliveryTracker) tracker.orElseThrow();
        }

        static Field field(String name) throws Exception {
            var field = AbstractDelayedDeliveryTracker.class.getDeclaredField(name);
            field.setAccessible(true);
            return field;
        }
    }
}
