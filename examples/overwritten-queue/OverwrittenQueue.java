import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import com.sun.jdi.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.pulsar.broker.delayed.BucketDelayedDeliveryTrackerFactory;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.api.SubscriptionType;

/**
 * A subscription is stuck, because a load of another topic, which is unloaded by then, has written into its queue.
 *
 * <p>The same steps are taken on two pairs of topics, on one pair after the other. For one of them a debugger pauses
 * the bookie's thread that reads the segment of topic a, until a is unloaded and topic b has delayed messages.
 * Arguments: the folder for all data, and how many seconds the example waits for messages that are due.
 */
class OverwrittenQueue {
    static final int MESSAGES = 3; // with a delay
    static final int ALL = MESSAGES + 2; // a read that waits delivers one more, so it takes two to see that none comes
    static final int DUE = 8; // s, the first message; the bucket is stored by then
    static final int PATIENCE = 20; // s, for what comes sooner on an idle machine; a read of the broker may last 30 s

    public static void main(String[] arguments) {
        WholeBroker.tell(arguments[0], settings -> {
            settings.setDelayedDeliveryTrackerFactoryClassName(BucketDelayedDeliveryTrackerFactory.class.getName());
            settings.setDelayedDeliveryMinIndexCountPerBucket(MESSAGES - 1); // the last message begins the next bucket
            settings.setDelayedDeliveryMaxIndexesPerBucketSnapshotSegment(1);
            settings.setManagedLedgerMaxEntriesPerLedger(MESSAGES - 1);
            settings.setManagedLedgerMinLedgerRolloverTimeMinutes(0);
            settings.setTopicOrderedExecutorThreadNum(1); // the thread that makes the trackers of its topics
        }, servers -> {
            WholeBroker.say("One broker, one bookie, ZooKeeper; BucketDelayedDeliveryTrackerFactory%n");
            var pairs = List.of(new Pair("before", servers), new Pair("after", servers));
            var reads = Class.forName("org.apache.bookkeeper.proto.ReadEntryProcessor"); // of the bookie
            new Pauses().at(reads, OverwrittenQueue::reads, Method::location, () -> pairs.get(1).pause());
            return tell(Integer.parseInt(arguments[1]), pairs);
        });
    }

    /** Whether a method is the one that reads an entry. */
    static boolean reads(Method method) {
        return method.name().equals("processPacket");
    }

    /** The steps on one pair after the other, then what was seen, in a line for each step. */
    static int tell(int wait, List<Pair> pairs) throws Exception {
        for (var pair : pairs) {
            pair.go(wait);
        }
        WholeBroker.line("a load of topic a ends", pairs, pair -> pair.ends);
        for (var step : List.of("    topic a is unloaded", "messages are sent to topic b, due in",
                "    " + wait + " s later are received", "a message is sent to b, due at once",
                "    " + wait + " s later are received", "another one is sent to b",
                "    " + wait + " s later are received", "topic b is unloaded",
                "    " + wait + " s later are received")) {
            WholeBroker.line(step, pairs, pair -> pair.seen.remove(0));
        }
        return verdict(pairs.get(0), pairs.get(1));
    }

    static int verdict(Pair before, Pair after) {
        WholeBroker.say("");
        if (before.stuck) {
            WholeBroker.say("NO VERDICT: messages of b also wait if the load of a ends before a is unloaded.");
            return WholeBroker.NO_VERDICT;
        }
        if (!after.stuck) {
            WholeBroker.say("IN TIME: all messages of b were received, although the load of a ended late.");
            return WholeBroker.NO_HARM;
        }
        WholeBroker.say("STUCK: topic b delivers nothing more, because a load of a ended after a was unloaded.");
        return WholeBroker.HARM;
    }

    /** Topics a and b, and what a user sees of them. The ledgers of a are younger than the first one of b. */
    static class Pair {
        final String ends; // when the load of a ends: before or after a is unloaded
        final Topic b;
        final Topic a;
        final CountDownLatch there = new CountDownLatch(1);
        final CountDownLatch goesOn = new CountDownLatch(1);
        final AtomicBoolean armed = new AtomicBoolean();
        final List<String> seen = new ArrayList<>();
        boolean stuck;

        Pair(String ends, WholeBroker servers) throws Exception {
            this.ends = ends;
            b = new Topic("b " + ends, servers);
            a = new Topic("a " + ends, servers);
        }

        void go(int wait) throws Exception {
            long due = a.sendDelayed();
            if (ends.equals("after")) {
                MILLISECONDS.sleep(due - SECONDS.toMillis(1) - System.currentTimeMillis());
                armed.set(true);
                see("a load reads", there.await(PATIENCE, SECONDS));
            } else {
                see("a is received", WholeBroker.reached(DUE + PATIENCE, () -> a.received.size() == MESSAGES));
            }
            a.close();
            a.unload();
            seen.add("yes");
            due = b.sendDelayed();
            seen.add(DUE + " to " + (DUE + MESSAGES - 1) + " s");
            goesOn.countDown();
            MILLISECONDS.sleep(due + SECONDS.toMillis(MESSAGES) - System.currentTimeMillis());
            seen.add(b.received(MESSAGES, wait));
            for (int message = MESSAGES; message < ALL; message++) {
                b.producer.send(message);
                seen.add("yes");
                seen.add(b.received(message + 1, wait));
            }
            stuck = b.received.size() < ALL;
            b.unload();
            seen.add("yes");
            seen.add(b.received(ALL, wait));
            b.close();
        }

        /** Pauses the first thread that is about to read. */
        void pause() throws InterruptedException {
            if (armed.compareAndSet(true, false)) {
                there.countDown();
                goesOn.await();
            }
        }

        /** Ends the run if a step does not come to what the next one needs. */
        void see(String what, boolean is) {
            if (!is) {
                throw new IllegalStateException("not for the pair " + ends + ": " + what);
            }
        }
    }

    /** A topic with a shared subscription, and what a user does with it. */
    static class Topic {
        final String name;
        final WholeBroker servers;
        final Producer<Integer> producer;
        final Consumer<Integer> consumer;
        final Set<Integer> received = ConcurrentHashMap.newKeySet();

        Topic(String name, WholeBroker servers) throws Exception {
            this.name = servers.topic(name);
            this.servers = servers;
            producer = servers.client.newProducer(Schema.INT32).topic(this.name).enableBatching(false).create();
            consumer = servers.client.newConsumer(Schema.INT32).topic(this.name).subscriptionName("s")
                    .subscriptionType(SubscriptionType.Shared)
                    .acknowledgmentGroupTime(0, SECONDS) // so that an unload finds what is acknowledged
                    .messageListener((consumer, message) -> {
                        received.add(message.getValue());
                        consumer.acknowledgeAsync(message);
                    }).subscribe();
        }

        /** Sends messages that are due a second after each other; once the tracker has them, says when the first is. */
        long sendDelayed() throws Exception {
            long first = System.currentTimeMillis() + SECONDS.toMillis(DUE);
            for (int i = 0; i < MESSAGES; i++) {
                producer.newMessage().value(i).deliverAt(first + SECONDS.toMillis(i)).send();
            }
            if (!WholeBroker.reached(DUE, () -> delayed() == MESSAGES)) {
                throw new IllegalStateException(name + " tracks " + delayed() + " messages");
            }
            return first;
        }

        long delayed() throws Exception {
            return servers.admin.topics().getStats(name).getSubscriptions().get("s").getMsgDelayed();
        }

        /** How many of so many messages are received within so many seconds. */
        String received(int messages, int wait) throws Exception {
            WholeBroker.reached(wait, () -> received.size() == messages);
            return received.size() + " of " + messages;
        }

        void unload() throws Exception {
            servers.admin.topics().unload(name);
        }

        void close() throws Exception {
            producer.close();
            consumer.close();
        }
    }
}
