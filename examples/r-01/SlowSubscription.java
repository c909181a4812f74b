import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.apache.pulsar.client.api.MessageId.earliest;
import static org.apache.pulsar.client.api.MessageId.latest;

import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.apache.bookkeeper.client.BookKeeperAdmin;
import org.apache.bookkeeper.common.component.LifecycleComponentStack;
import org.apache.bookkeeper.conf.ServerConfiguration;
import org.apache.bookkeeper.mledger.ManagedLedger;
import org.apache.bookkeeper.server.Main;
import org.apache.bookkeeper.server.conf.BookieConfiguration;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.client.admin.PulsarAdmin;
import org.apache.pulsar.client.api.MessageId;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.common.policies.data.ClusterData;
import org.apache.pulsar.common.policies.data.TenantInfo;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/**
 * A subscription that nobody reads loses its messages after another one was deleted.
 *
 * <p>The same steps are taken on two topics of one broker, with the admin and the client alone. They differ in one
 * call: on the first topic, s4 is deleted. Arguments: the folder for all data, and how many entries a ledger holds.
 * The exit status is one of those below; any other says that the run did not come to its end.
 */
public class SlowSubscription {
    static final int NOT_LOST = 10;
    static final int LOST = 11;
    static final int NO_VERDICT = 12;
    static final PrintStream STORY = System.out;
    static final String HOST = "127.0.0.1";
    static final String CLUSTER = "one";
    static final String NAMESPACE = "example/r-01";

    public static void main(String[] arguments) {
        System.setOut(System.err); // what the servers log
        int status = NO_VERDICT;
        try (var servers = new Servers(Path.of(arguments[0]), Integer.parseInt(arguments[1]));
                var admin = PulsarAdmin.builder().serviceHttpUrl(servers.broker.getWebServiceAddress()).build();
                var client = PulsarClient.builder().serviceUrl(servers.broker.getBrokerServiceUrl()).build()) {
            servers.makeNamespace(admin);
            STORY.printf("Pulsar %s: %s, %s, %s; Java %s%n", admin.brokers().getVersion(), jar(ManagedLedger.class),
                    jar(BookKeeperAdmin.class), jar(ZooKeeperServer.class), System.getProperty("java.version"));
            STORY.printf("One broker, one bookie, ZooKeeper; entries to a ledger: %s%n%n", arguments[1]);
            var story = new Story(new Topic("deleted", admin, client), new Topic("kept", admin, client));
            status = story.tell();
        } catch (Throwable error) {
            STORY.println("The run did not come to its end: " + error);
            error.printStackTrace();
        } finally {
            Runtime.getRuntime().halt(status); // a server's thread may still run
        }
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
            reached(10, () -> deleted.backlog("s6") == 0); // a broker that is mended never does
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

        void line(String step, Step take) throws Exception {
            STORY.printf("%-40s  %-10s  %s%n", step, take.on(deleted), take.on(kept));
        }

        int verdict(int afterDeletion, int otherwise, int sent) {
            STORY.println();
            if (otherwise < sent) {
                STORY.println("NO VERDICT: messages were also lost where s4 was kept.");
                return NO_VERDICT;
            }
            if (afterDeletion == sent) {
                STORY.printf("NOT LOST: s6 received all %d messages on both topics.%n", sent);
                return NOT_LOST;
            }
            STORY.printf("LOST: after s4 was deleted, s6 received %d of %d messages, the first of them message %d.%n",
                    afterDeletion, sent, deleted.received.first());
            STORY.printf("Where s4 was kept, it received %d of %d.%n", otherwise, sent);
            return LOST;
        }
    }

    interface Step {
        Object on(Topic topic) throws Exception;
    }

    /** A topic, and what a user does with it. */
    static class Topic {
        final String title;
        final String name;
        final PulsarAdmin admin;
        final PulsarClient client;
        int sent = 0;
        TreeSet<Integer> received;

        Topic(String title, PulsarAdmin admin, PulsarClient client) throws Exception {
            this.title = title;
            this.name = "persistent://" + NAMESPACE + "/s4-" + title;
            this.admin = admin;
            this.client = client;
            admin.topics().createNonPartitionedTopic(name);
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
            if (!reached(30, () -> backlog(subscription) == 0)) {
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

    /** ZooKeeper, one bookie and one broker, all in this process and on loopback only. */
    static class Servers implements AutoCloseable {
        final NIOServerCnxnFactory zookeeper = new NIOServerCnxnFactory();
        final LifecycleComponentStack bookie;
        final PulsarService broker;

        Servers(Path folder, int entriesPerLedger) throws Exception {
            var data = Files.createDirectories(folder.resolve("zookeeper")).toFile();
            zookeeper.configure(new InetSocketAddress(HOST, 0), 100);
            zookeeper.startup(new ZooKeeperServer(data, data, 2000));
            var metadata = HOST + ":" + zookeeper.getLocalPort();

            var storage = new ServerConfiguration();
            storage.setMetadataServiceUri("zk+null://" + metadata + "/ledgers");
            storage.setJournalDirName(folder.resolve("journal").toString());
            storage.setLedgerDirNames(new String[] {folder.resolve("ledgers").toString()});
            storage.setListeningInterface(NetworkInterface.getByInetAddress(InetAddress.getByName(HOST)).getName());
            storage.setAdvertisedAddress(HOST);
            storage.setAllowLoopback(true);
            storage.setAllowEphemeralPorts(true);
            storage.setBookiePort(0);
            BookKeeperAdmin.initNewCluster(storage);
            bookie = Main.buildBookieServer(new BookieConfiguration(storage));
            bookie.start();

            var settings = new ServiceConfiguration();
            settings.setClusterName(CLUSTER);
            settings.setMetadataStoreUrl("zk:" + metadata);
            settings.setBindAddress(HOST);
            settings.setAdvertisedAddress(HOST);
            settings.setBrokerServicePort(Optional.of(0));
            settings.setWebServicePort(Optional.of(0));
            settings.setLoadBalancerOverrideBrokerNicSpeedGbps(Optional.of(1.0)); // 3.0 needs it on a virtual machine
            settings.setManagedLedgerDefaultEnsembleSize(1); // one bookie
            settings.setManagedLedgerDefaultWriteQuorum(1);
            settings.setManagedLedgerDefaultAckQuorum(1);
            settings.setManagedLedgerMaxEntriesPerLedger(entriesPerLedger);
            settings.setManagedLedgerMinLedgerRolloverTimeMinutes(0);
            broker = new PulsarService(settings);
            broker.start();
        }

        void makeNamespace(PulsarAdmin admin) throws Exception {
            admin.clusters().createCluster(CLUSTER, ClusterData.builder().serviceUrl(broker.getWebServiceAddress())
                    .brokerServiceUrl(broker.getBrokerServiceUrl()).build());
            var tenant = TenantInfo.builder().allowedClusters(Set.of(CLUSTER)).build();
            admin.tenants().createTenant(NAMESPACE.split("/")[0], tenant);
            admin.namespaces().createNamespace(NAMESPACE);
        }

        @Override
        public void close() throws Exception {
            broker.close();
            bookie.close();
            zookeeper.shutdown();
        }
    }

    /** Waits until a condition holds; false if it does not within so many seconds. */
    static boolean reached(int seconds, Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + SECONDS.toNanos(seconds);
        while (!condition.call()) {
            if (System.nanoTime() > end) {
                return false;
            }
            MILLISECONDS.sleep(50);
        }
        return true;
    }

    static Path jar(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).getFileName();
    }
}
