import static java.util.concurrent.TimeUnit.SECONDS;
import static org.apache.pulsar.client.api.MessageId.earliest;
import static org.apache.pulsar.client.api.MessageId.latest;

import java.util.List;
import java.util.TreeSet;
import org.apache.pulsar.client.admin.PulsarAdmin;
import org.apache.pulsar.client.api.MessageId;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.Schema;

/**
 * A subscription that nobody reads loses its messages after another one was deleted.
 *
 * <p>The same steps are taken on two topics of one broker, with the admin and the client alone. They differ in one
 * call: on the first topic, s4 is deleted. Arguments: the folder for all data, and how many entries a ledger holds.
 */
class SlowSubscription {
    public static void main(String[] arguments) {
        WholeBroker.tell(arguments[0], settings -> {
            settings.setManagedLedgerMaxEntriesPerLedger(Integer.parseInt(arguments[1]));
            settings.setManagedLedgerMinLedgerRolloverTimeMinutes(0);
        }, servers -> {
            WholeBroker.say("One broker, one bookie, ZooKeeper; entries to a ledger: %s%n", arguments[1]);
            return new Story(new Topic("deleted", servers), new Topic("kept", servers)).tell();
        });
    }

    /** The steps, in a line each: on the topic where s4 is deleted, and on the one where it is kept. */
    record Story(Topic deleted, Topic kept) {
        int tell() throws Exception {
            line("", topic -> "s4 " + topic.title);
            line("s1 is opened at the earliest position", topic -> topic.open("s1", earliest));
            line("35 messages are sent", topic -> topic.send(35));
            line("s2 is opened at the latest position", topic -> topic.open("s2", latest));
            line("s3 is opened at the earliest position", topic -> topic.open("s3", earliest));
            line("s4 is opened at the latest position", topic -> topic.open("s4", latest));
            line("s5 is opened at the latest position", topic -> topic.open("s5", latest));
            line("s6 is opened at the earliest position", topic -> topic.open("s6", earliest));
            look();
            line("s4 is deleted", topic -> topic == deleted ? topic.delete("s4") : "no");
            line("s1 receives and acknowledges", topic -> topic.receive("s1"));
            line("s3 receives and acknowledges", topic -> topic.receive("s3"));
            WholeBroker.reached(10, () -> deleted.backlog("s6") == 0); // a broker that is mended never does
            look();
            line("an operator asks for a trimming", topic -> topic.trim());
            look();
            line("2 more messages are sent", topic -> topic.send(2));
            line("s6 connects, receives, acknowledges", topic -> topic.receive("s6"));
            return verdict(deleted.received.size(), kept.received.size(), kept.sent);
        }

        void look() throws Exception {
            line("    ledgers of the topic", topic -> topic.ledgers());
            line("    backlog of s6", topic -> topic.backlog("s6"));
        }

        void line(String step, WholeBroker.Step<Topic> take) throws Exception {
            WholeBroker.line(step, List.of(deleted, kept), take);
        }

        int verdict(int afterDeletion, int otherwise, int sent) {
            WholeBroker.say("");
            if (otherwise < sent) {
                WholeBroker.say("NO VERDICT: messages were also lost where s4 was kept.");
                return WholeBroker.NO_VERDICT;
            }
            if (afterDeletion == sent) {
                WholeBroker.say("NOT LOST: s6 received all %d messages on both topics.", sent);
                return WholeBroker.NO_HARM;
            }
            WholeBroker.say("LOST: after s4 was deleted, s6 received %d of %d messages, the first of them message %d.",
                    afterDeletion, sent, deleted.received.first());
            WholeBroker.say("Where s4 was kept, it received %d of %d.", otherwise, sent);
            return WholeBroker.HARM;
        }
    }

    /** A topic, and what a user does with it. */
    static class Topic {
        final String title;
        final String name;
        final PulsarAdmin admin;
        final PulsarClient client;
        int sent = 0;
        TreeSet<Integer> received;

        Topic(String title, WholeBroker servers) throws Exception {
            this.title = title;
            this.name = servers.topic("s4 " + title);
            this.admin = servers.admin;
            this.client = servers.client;
        }

        String open(String subscription, MessageId position) throws Exception {
            admin.topics().createSubscription(name, subscription, position);
            return "yes";
        }

        String delete(String subscription) throws Exception {
            admin.topics().deleteSubscription(name, subscription);
            return "yes";
        }

        String trim() throws Exception {
            admin.topics().trimTopic(name);
            return "yes";
        }

        /** Messages that hold their own number, from 0 on. */
        String send(int count) throws Exception {
            try (var producer = client.newProducer(Schema.INT32).topic(name).enableBatching(false).create()) {
                for (int i = 0; i < count; i++) {
                    producer.send(sent++);
                }
            }
            return "yes";
        }

        /** Receives up to the message that was sent last, and acknowledges them all with one call. */
        String receive(String subscription) throws Exception {
            received = new TreeSet<>();
            try (var consumer = client.newConsumer(Schema.INT32).topic(name).subscriptionName(subscription).subscribe()) {
                while (!received.contains(sent - 1)) {
                    var message = consumer.receive(30, SECONDS);
                    if (message == null) {
                        throw new IllegalStateException("nothing more came to " + subscription + " of " + name);
                    }
                    received.add(message.getValue());
                    if (message.getValue() == sent - 1) {
                        consumer.acknowledgeCumulative(message);
                    }
                }
            }
            if (!WholeBroker.reached(30, () -> backlog(subscription) == 0)) {
                throw new IllegalStateException("acknowledged, and still a backlog: " + subscription + " of " + name);
            }
            return received.size() + " of " + sent;
        }

        int ledgers() throws Exception {
            return admin.topics().getInternalStats(name).ledgers.size();
        }

        long backlog(String subscription) throws Exception {
            return admin.topics().getStats(name).getSubscriptions().get(subscription).getMsgBacklog();
        }
    }
}
