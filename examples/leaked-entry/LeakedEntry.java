import static java.util.concurrent.TimeUnit.SECONDS;

import com.sun.jdi.Method;
import io.netty.buffer.PoolArenaMetric;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.apache.bookkeeper.mledger.impl.ManagedCursorImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.bookkeeper.mledger.impl.cache.RangeEntryCacheImpl;
import org.apache.bookkeeper.mledger.util.RangeCache;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.Message;
import org.apache.pulsar.client.api.MessageId;
import org.apache.pulsar.client.api.Schema;

/**
 * The buffer of a cached entry is never released, because a removal took a newer entry out of the cache.
 *
 * <p>The same steps are taken on two topics of one broker, on one topic after the other. On one of them a debugger
 * pauses the thread that evicts by age, while others remove its entry and put the position in again. Arguments: the
 * folder for all data, and how many bytes the message has.
 */
class LeakedEntry {
    static final int OLD = 5; // s; the eviction by age removes entries that are older
    static final int PATIENCE = 30; // s, for what comes sooner on an idle machine
    static final int SMALL = 1000; // bytes
    static final int RELEASED = 10; // s, within which a buffer that nobody holds is released

    public static void main(String[] arguments) {
        WholeBroker.tell(arguments[0], settings -> {
            settings.setManagedLedgerMinimumBacklogCursorsForCaching(1); // reads put entries into the cache
            settings.setManagedLedgerMinimumBacklogEntriesForCaching(1);
            settings.setStatsUpdateInitialDelayInSecs(1); // looks at the backlogs of cursors
            settings.setStatsUpdateFrequencyInSecs(1);
            settings.setCacheEvictionByMarkDeletedPosition(true); // an entry stays until it is acknowledged
            settings.setManagedLedgerCacheEvictionTimeThresholdMillis(SECONDS.toMillis(OLD));
            settings.setManagedLedgerCacheCopyEntries(true); // so that the cache's buffers can be counted
        }, servers -> {
            WholeBroker.say("One broker, one bookie, ZooKeeper; reads put entries into the cache%n");
            var topics = List.of(new Topic("no", servers), new Topic("yes", servers));
            new Pauses().at(RangeCache.class, LeakedEntry::removes, Method::location, () -> topics.get(1).pause());
            return tell(new byte[Integer.parseInt(arguments[1])], topics);
        });
    }

    /** Whether a method is the one that removes an entry, whoever asks for it. */
    static boolean removes(Method method) {
        return method.name().equals("removeEntry") && method.signature().contains("Predicate");
    }

    /** The steps on one topic after the other, then what was seen, in a line for each step. */
    static int tell(byte[] message, List<Topic> topics) throws Exception {
        for (var topic : topics) {
            topic.go(message);
        }
        WholeBroker.line("the eviction by age is paused", topics, topic -> topic.paused);
        WholeBroker.line("size and buffers of the cache, after", topics, topic -> "");
        for (var step : List.of("s1 reads the message", "both acknowledge, close, are reset",
                "s1 reads it again", "the eviction goes on", "the topic is deleted")) {
            WholeBroker.line("    " + step, topics, topic -> topic.seen.remove(0));
        }
        return verdict(topics.get(0).left, topics.get(1).left);
    }

    static int verdict(long unpaused, long paused) {
        WholeBroker.say("");
        if (unpaused > 0) {
            WholeBroker.say("NO VERDICT: a buffer is also left if the eviction is not paused.");
            return WholeBroker.NO_VERDICT;
        }
        if (paused == 0) {
            WholeBroker.say("NONE LEFT: all buffers are released, although the eviction was paused.");
            return WholeBroker.NO_HARM;
        }
        WholeBroker.say("LEFT: the topic is deleted, and a buffer of its entry is not released.");
        return WholeBroker.HARM;
    }

    /** A topic with two subscriptions and one message, and what the cache holds after each step. */
    static class Topic {
        final String paused;
        final String name;
        final WholeBroker servers;
        final CountDownLatch there = new CountDownLatch(1);
        final CountDownLatch goesOn = new CountDownLatch(1);
        final AtomicBoolean armed = new AtomicBoolean();
        final List<String> seen = new ArrayList<>();
        long before;
        long left;

        Topic(String paused, WholeBroker servers) throws Exception {
            this.paused = paused;
            this.name = servers.topic("paused " + paused);
            this.servers = servers;
            for (var subscription : List.of("s1", "s2")) {
                servers.admin.topics().createSubscription(name, subscription, MessageId.earliest);
            }
        }

        void go(byte[] message) throws Exception {
            see("the cache is empty, also of a system topic", WholeBroker.reached(PATIENCE, () -> size() == 0));
            before = buffers();
            try (var producer = servers.client.newProducer(Schema.BYTES).topic(name).enableBatching(false).create()) {
                producer.send(message);
            }
            var first = open("s1");
            var read = cached(first);
            if (paused.equals("yes")) {
                armed.set(true);
                see("the eviction comes to the entry", there.await(PATIENCE, SECONDS));
            }
            var second = open("s2");
            second.acknowledge(second.receive(PATIENCE, SECONDS));
            first.acknowledge(read);
            first.close();
            second.close();
            for (var subscription : List.of("s1", "s2")) {
                servers.admin.topics().resetCursor(name, subscription, MessageId.earliest);
            }
            emptied();
            first = open("s1");
            cached(first);
            goesOn.countDown();
            emptied();
            first.close();
            servers.admin.topics().delete(name, true);
            WholeBroker.reached(RELEASED, () -> more() == 0);
            look();
            left = more();
        }

        /** Pauses the first thread that comes to a removal. It evicts by age, because it looks every 10 ms. */
        void pause() throws InterruptedException {
            if (armed.compareAndSet(true, false)) {
                there.countDown();
                goesOn.await();
            }
        }

        /** Connects a consumer as soon as what it reads goes into the cache. */
        Consumer<byte[]> open(String subscription) throws Exception {
            var topic = (PersistentTopic) servers.broker.getBrokerService().getTopicReference(name).orElseThrow();
            var cursor = (ManagedCursorImpl) topic.getSubscription(subscription).getCursor();
            see("reads go into the cache", WholeBroker.reached(PATIENCE, cursor::isCacheReadEntry));
            return servers.client.newConsumer(Schema.BYTES).topic(name).subscriptionName(subscription).subscribe();
        }

        /** Receives the message, which must be in the cache then. */
        Message<byte[]> cached(Consumer<byte[]> consumer) throws Exception {
            var read = consumer.receive(PATIENCE, SECONDS);
            look();
            see("the entry is in the cache", size() > 0 && more() == 1);
            return read;
        }

        /** Waits until the cache counts no entry but small ones, which a system topic may have. */
        void emptied() throws Exception {
            see("the cache is empty", WholeBroker.reached(PATIENCE, () -> size() < SMALL));
            look();
        }

        /** Ends the run if a step does not come to what the next one needs. */
        void see(String what, boolean is) {
            if (!is) {
                throw new IllegalStateException("not on the topic " + paused + ": " + what + "; after " + seen);
            }
        }

        void look() {
            seen.add(size() / 1000 + " kB, " + more());
        }

        long size() {
            return ((ManagedLedgerFactoryImpl) servers.broker.getDefaultManagedLedgerFactory())
                    .getEntryCacheManager().getSize();
        }

        /** How many more buffers are in use than before the first step. */
        long more() {
            return buffers() - before;
        }

        /** How many buffers above 32 KiB the cache's pool has in use. A thread that releases a smaller one keeps it. */
        static long buffers() {
            var metric = RangeEntryCacheImpl.ALLOCATOR.metric();
            return Stream.concat(metric.directArenas().stream(), metric.heapArenas().stream())
                    .mapToLong(PoolArenaMetric::numActiveNormalAllocations).sum();
        }
    }
}
