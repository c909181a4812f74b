import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import com.sun.jdi.Method;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.apache.pulsar.broker.delayed.AbstractDelayedDeliveryTracker;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.api.SubscriptionType;

/**
 * A subscription is stuck, because a timer fired while the topic was unloaded.
 *
 * <p>The same steps are taken on three topics of one broker. On two of them a debugger pauses the thread that closes
 * the tracker of delayed messages, until the timer has fired: on one before the thread looks for the timer, on one
 * after that. Arguments: the folder for all data, and how many seconds the example waits for each answer.
 */
class ClosedTracker {
    static final int DUE = 5; // s
    static final int FIRED = DUE + 2; // s; the default tick is one

    public static void main(String[] arguments) {
        WholeBroker.tell(arguments[0], settings -> { }, servers -> {
            WholeBroker.say("One broker, one bookie, ZooKeeper; all that concerns delayed delivery is the default%n");
            var close = new Close(new Pauses());
            return tell(Integer.parseInt(arguments[1]), close, List.of(
                    new Topic("not", servers), new Topic("before", servers), new Topic("after", servers)));
        });
    }

    /** The steps, in a line each. */
    static int tell(int wait, Close close, List<Topic> topics) throws Exception {
        WholeBroker.line("a close is paused as it looks for timers", topics, topic -> topic.paused);
        WholeBroker.line("a message is sent, due in " + DUE + " s", topics, topic -> topic.sendDelayed(close));
        WholeBroker.line("    meanwhile the topic is unloaded", topics, topic -> topic.unloaded(wait));
        WholeBroker.line("    the message is received", topics, topic -> topic.received(wait));
        WholeBroker.line("a message is sent, due at once", topics, topic -> topic.send());
        WholeBroker.line("    the message is received", topics, topic -> topic.received(wait));
        WholeBroker.line("another consumer connects", topics, topic -> topic.connected(wait));
        WholeBroker.line("the topic is unloaded", topics, topic -> topic.unloadedAgain(wait));
        WholeBroker.line("the topic is deleted by force", topics, topic -> topic.deleted(wait));
        return verdict(topics.get(0), topics.get(1), topics.get(2));
    }

    static int verdict(Topic not, Topic before, Topic after) {
        WholeBroker.say("");
        if (not.stuck || before.stuck) {
            WholeBroker.say("NO VERDICT: a topic cannot be unloaded, although no timer fired in between.");
            return WholeBroker.NO_VERDICT;
        }
        if (!after.stuck) {
            WholeBroker.say("NOT STUCK: the topic can be unloaded, although the timer fired in between.");
            return WholeBroker.NO_HARM;
        }
        WholeBroker.say("STUCK: the timer fired in between, and the subscription works no more. The first unload says:");
        WholeBroker.say("%s", after.error);
        return WholeBroker.HARM;
    }

    /** The close of a tracker: the one place at which threads are paused. */
    static class Close {
        volatile String paused = "not";
        volatile long until; // milliseconds of the clock

        Close(Pauses pauses) throws Exception {
            pauses.at(AbstractDelayedDeliveryTracker.class, Close::is, Method::location, () -> pause("before"));
            pauses.at(AbstractDelayedDeliveryTracker.class, Close::is, Pauses::secondLine, () -> pause("after"));
        }

        static boolean is(Method method) {
            return method.name().equals("close");
        }

        void pause(String where) throws InterruptedException {
            if (where.equals(paused)) {
                MILLISECONDS.sleep(until - System.currentTimeMillis());
                paused = "not";
            }
        }
    }

    /** A topic with a shared subscription, and what a user does with it. */
    static class Topic {
        final String paused;
        final String name;
        final WholeBroker servers;
        final Producer<Integer> producer;
        final Consumer<Integer> consumer;
        CompletableFuture<Void> unload;
        String error = "nothing";
        boolean stuck;

        Topic(String paused, WholeBroker servers) throws Exception {
            this.paused = paused;
            this.name = servers.topic(paused);
            this.servers = servers;
            this.producer = servers.client.newProducer(Schema.INT32).topic(name).enableBatching(false).create();
            this.consumer = subscribe().get(60, SECONDS);
        }

        CompletableFuture<Consumer<Integer>> subscribe() {
            return servers.client.newConsumer(Schema.INT32).topic(name).subscriptionName("s")
                    .subscriptionType(SubscriptionType.Shared).subscribeAsync();
        }

        /** Sends a message; once the tracker has it, the topic is unloaded, and waits until the timer has fired. */
        String sendDelayed(Close close) throws Exception {
            long now = System.currentTimeMillis();
            producer.newMessage().value(0).deliverAt(now + SECONDS.toMillis(DUE)).send();
            WholeBroker.reached(DUE, () -> delayed() == 1);
            close.until = now + SECONDS.toMillis(FIRED);
            close.paused = paused;
            unload = servers.admin.topics().unloadAsync(name);
            MILLISECONDS.sleep(close.until - System.currentTimeMillis());
            return "yes";
        }

        long delayed() throws Exception {
            return servers.admin.topics().getStats(name).getSubscriptions().get("s").getMsgDelayed();
        }

        String send() throws Exception {
            producer.send(1);
            return "yes";
        }

        String received(int wait) throws Exception {
            var message = consumer.receive(wait, SECONDS);
            if (message == null) {
                return "no";
            }
            consumer.acknowledge(message);
            return "yes";
        }

        String connected(int wait) throws Exception {
            return answer(subscribe(), wait);
        }

        String unloaded(int wait) throws Exception {
            return answer(unload, wait);
        }

        String unloadedAgain(int wait) throws Exception {
            var answer = answer(servers.admin.topics().unloadAsync(name), wait);
            stuck = !answer.equals("yes");
            return answer;
        }

        String deleted(int wait) throws Exception {
            return answer(servers.admin.topics().deleteAsync(name, true), wait);
        }

        /** Whether a call succeeds within so many seconds. The first error is kept. */
        String answer(CompletableFuture<?> call, int wait) throws Exception {
            try {
                call.get(wait, SECONDS);
                return "yes";
            } catch (ExecutionException failed) {
                if (error.equals("nothing")) {
                    error = failed.getMessage().lines().filter(line -> line.startsWith("java.")).findFirst()
                            .orElse(failed.toString());
                }
                return "error";
            } catch (TimeoutException late) {
                return "no answer";
            }
        }
    }
}
