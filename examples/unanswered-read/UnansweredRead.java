import static java.util.concurrent.TimeUnit.SECONDS;

import com.sun.jdi.Method;
import com.sun.jdi.request.EventRequest;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerImpl;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.MessageId;
import org.apache.pulsar.client.api.MessageIdAdv;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.api.SubscriptionType;

/**
 * A subscription waits for a read without end, because it joined the read when its readers had been answered.
 *
 * <p>The same steps are taken on topics of one broker, on one topic after the other. On some of them a debugger pauses
 * the thread that has asked the storage, the thread that has its answer, or both. Arguments: the folder for all data,
 * and how many seconds the example waits for messages.
 */
class UnansweredRead {
    static final int MESSAGES = 3;
    static final int WORKERS = 4; // threads of the storage's client; by default as many as there are processors
    static final int ASKS = 2; // s, within which the storage answers
    static final int MEANWHILE = 3 * ASKS; // s, in which a consumer gets its messages if it can
    static final int PATIENCE = 30; // s, for what comes sooner on an idle machine
    static final int TRIES = 50; // topics, until one has its reads ended by two threads

    public static void main(String[] arguments) {
        WholeBroker.tell(arguments[0], settings -> {
            settings.setBookkeeperClientNumWorkerThreads(WORKERS);
            settings.setTopicLevelPoliciesEnabled(false); // so that no other topic reads
            settings.setSystemTopicEnabled(false);
        }, servers -> {
            WholeBroker.say("One broker, one bookie, ZooKeeper; the storage's client has %d threads%n", WORKERS);
            var end = new End(new Pauses());
            return tell(Integer.parseInt(arguments[1]), end, List.of(
                    new Topic("no", "no", "nothing", servers), new Topic("yes", "no", "nothing", servers),
                    new Topic("no", "yes", "nothing", servers), new Topic("yes", "yes", "a message", servers),
                    new Topic("yes", "yes", "reconnect", servers), new Topic("yes", "yes", "a reset", servers),
                    new Topic("yes", "yes", "an unload", servers)));
        });
    }

    /** The reads of one topic after the other, then what comes later, in a line for each step. */
    static int tell(int wait, End end, List<Topic> topics) throws Exception {
        for (var topic : topics) {
            topic.read(end);
        }
        WholeBroker.line("the thread that asks is paused", topics, topic -> topic.asks);
        WholeBroker.line("the thread that answers is paused", topics, topic -> topic.answers);
        WholeBroker.line("s1 reads, and receives meanwhile", topics, topic -> topic.s1.meanwhile);
        WholeBroker.line("s2 reads, and receives meanwhile", topics, topic -> topic.s2.meanwhile);
        WholeBroker.line(wait + " s later    s1 has received", topics, topic -> topic.s1.received(wait));
        WholeBroker.line("              s2 has received", topics, topic -> topic.s2.received(wait));
        WholeBroker.line("              s2 has reads pending", topics, topic -> topic.left());
        WholeBroker.line("then comes", topics, topic -> topic.come());
        WholeBroker.line("10 s later    s1 has received", topics, topic -> topic.s1.received(10));
        WholeBroker.line("              s2 has received", topics, topic -> topic.s2.received(10));
        return verdict(wait, topics);
    }

    static int verdict(int wait, List<Topic> topics) {
        WholeBroker.say("");
        if (topics.stream().anyMatch(topic -> !topic.mayWait() && topic.left > 0)) {
            WholeBroker.say("NO VERDICT: a read is also left if nobody can join it too late.");
            return WholeBroker.NO_VERDICT;
        }
        if (topics.stream().allMatch(topic -> topic.left == 0)) {
            WholeBroker.say("ANSWERED: all reads were answered, although threads were paused.");
            return WholeBroker.NO_HARM;
        }
        WholeBroker.say("UNANSWERED: a read was over, and %d s later s2 still waits for it.", wait);
        return WholeBroker.HARM;
    }

    /** The end of a read: the places at which threads are paused, each of them once for a topic. */
    static class End {
        final EventRequest asks;
        final EventRequest answers;
        volatile CountDownLatch goesOn;

        End(Pauses pauses) throws Exception {
            var read = Class.forName("org.apache.bookkeeper.mledger.impl.cache.PendingReadsManager$PendingRead");
            asks = pauses.at(read, method -> method.name().equals("attach"), Pauses::secondLine, this::pauseWhatAsks);
            answers = pauses.at(read, End::ends, Method::location, this::pauseWhatAnswers);
            pause(false, false);
        }

        /** Whether a method is what `attach` has had done when the storage answers. */
        static boolean ends(Method method) {
            return method.name().startsWith("lambda$attach$")
                    && method.signature().equals("(Ljava/util/List;Ljava/lang/Throwable;)V");
        }

        /** Chooses which threads of the next read are paused. A place slows threads down even if it pauses none. */
        void pause(boolean whatAsks, boolean whatAnswers) {
            goesOn = new CountDownLatch(1);
            asks.setEnabled(whatAsks);
            answers.setEnabled(whatAnswers);
        }

        /** The thread that asks has said that the answer ends the read, and not yet that readers are told. */
        void pauseWhatAsks() throws InterruptedException {
            asks.disable();
            SECONDS.sleep(ASKS);
        }

        /** The thread that answers has not yet said that the read is over. */
        void pauseWhatAnswers() throws InterruptedException {
            answers.disable();
            goesOn.await();
        }

        boolean reached() {
            return !asks.isEnabled() && !answers.isEnabled();
        }
    }

    /** A shared subscription, and what its consumers have received. */
    static class Subscription {
        final String name;
        final String topic;
        final WholeBroker servers;
        final Set<Integer> received = ConcurrentHashMap.newKeySet();
        Consumer<Integer> consumer;
        int sent = MESSAGES;
        String meanwhile;

        Subscription(String name, String topic, WholeBroker servers) throws Exception {
            this.name = name;
            this.topic = topic;
            this.servers = servers;
            servers.admin.topics().createSubscription(topic, name, MessageId.earliest);
        }

        void consume() throws Exception {
            consumer = servers.client.newConsumer(Schema.INT32).topic(topic).subscriptionName(name)
                    .subscriptionType(SubscriptionType.Shared).messageListener((consumer, message) -> {
                        received.add(message.getValue());
                        consumer.acknowledgeAsync(message);
                    }).subscribe();
        }

        /** How many of the messages are received within so many seconds. */
        String received(int wait) throws Exception {
            WholeBroker.reached(wait, () -> received.size() == sent);
            return received.size() + " of " + sent;
        }

        /** How many reads are not answered. */
        int pending() throws Exception {
            return servers.admin.topics().getInternalStats(topic).cursors.get(name).pendingReadOps;
        }
    }

    /** A topic with two subscriptions, whose messages are not in the cache, and what a user does with it. */
    static class Topic {
        final String asks;
        final String answers;
        final String comes;
        final WholeBroker servers;
        String name;
        Subscription s1;
        Subscription s2;
        int left;

        Topic(String asks, String answers, String comes, WholeBroker servers) throws Exception {
            this.asks = asks;
            this.answers = answers;
            this.comes = comes;
            this.servers = servers;
            int tries = 0;
            while (!made(String.join(" ", asks, answers, comes, "" + tries))) {
                see("two threads end its reads", ++tries < TRIES);
            }
        }

        /** Makes a topic; whether one thread ends its reads, and another one tells their readers. */
        boolean made(String title) throws Exception {
            name = servers.topic(title);
            s1 = new Subscription("s1", name, servers);
            s2 = new Subscription("s2", name, servers);
            long ledger = send(0, MESSAGES);
            var topic = (PersistentTopic) servers.broker.getBrokerService().getTopicReference(name).orElseThrow();
            var tells = ((ManagedLedgerImpl) topic.getManagedLedger()).getExecutor();
            var ends = servers.broker.getBookKeeperClient().getMainWorkerPool().chooseThread(ledger);
            servers.admin.topics().unload(name); // so that the cache is empty
            return ends != tells;
        }

        /** Sends messages and answers with the ledger of the last one. */
        long send(int first, int end) throws Exception {
            MessageId last = null;
            try (var producer = servers.client.newProducer(Schema.INT32).topic(name).enableBatching(false).create()) {
                for (int i = first; i < end; i++) {
                    last = producer.send(i);
                }
            }
            return ((MessageIdAdv) last).getLedgerId();
        }

        /** Has both subscriptions read the same messages, s2 while threads of the first read are paused. */
        void read(End end) throws Exception {
            see("no read is pending", s1.pending() == 0); // loads the topic, which may need the thread that is paused
            end.pause(asks.equals("yes"), answers.equals("yes"));
            s1.consume();
            see("the threads are paused", WholeBroker.reached(PATIENCE, end::reached));
            s1.meanwhile = s1.received(MEANWHILE);
            s2.consume();
            see("s2 reads", answers.equals("no") || WholeBroker.reached(PATIENCE, () -> s2.pending() == 1));
            s2.meanwhile = s2.received(MEANWHILE);
            end.goesOn.countDown();
        }

        /** Ends the run if a step does not come to what the next one needs. */
        void see(String what, boolean is) {
            if (!is) {
                throw new IllegalStateException("not on the topic " + name + ": " + what);
            }
        }

        /** Whether s2 can join a read whose readers have been answered. */
        boolean mayWait() {
            return asks.equals("yes") && answers.equals("yes");
        }

        int left() throws Exception {
            left = s2.pending();
            return left;
        }

        String come() throws Exception {
            switch (comes) {
                case "a message" -> {
                    s1.sent++;
                    s2.sent++;
                    send(MESSAGES, MESSAGES + 1);
                }
                case "reconnect" -> {
                    s2.consumer.close();
                    s2.consume();
                }
                case "a reset" -> servers.admin.topics().resetCursor(name, s2.name, MessageId.earliest);
                case "an unload" -> servers.admin.topics().unload(name);
                default -> { }
            }
            return comes;
        }
    }
}
