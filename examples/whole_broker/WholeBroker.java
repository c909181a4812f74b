import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.apache.bookkeeper.client.BookKeeperAdmin;
import org.apache.bookkeeper.common.component.LifecycleComponentStack;
import org.apache.bookkeeper.conf.ServerConfiguration;
import org.apache.bookkeeper.mledger.ManagedLedger;
import org.apache.bookkeeper.server.Main;
import org.apache.bookkeeper.server.conf.BookieConfiguration;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.client.admin.PulsarAdmin;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.common.policies.data.ClusterData;
import org.apache.pulsar.common.policies.data.TenantInfo;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** ZooKeeper, one bookie and one broker, all in this process and on loopback only, with an admin and a client. */
class WholeBroker implements AutoCloseable {
    static final int NO_HARM = 10; // exit statuses; any other says that the run did not come to its end
    static final int HARM = 11;
    static final int NO_VERDICT = 12;
    static final PrintStream STORY = System.out;
    static final String HOST = "127.0.0.1";
    static final String CLUSTER = "one";
    static final String NAMESPACE = "example/one";

    final NIOServerCnxnFactory zookeeper = new NIOServerCnxnFactory();
    final LifecycleComponentStack bookie;
    final PulsarService broker;
    final PulsarAdmin admin;
    final PulsarClient client;

    WholeBroker(Path folder, Consumer<ServiceConfiguration> change) throws Exception {
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
        change.accept(settings);
        broker = new PulsarService(settings);
        broker.start();

        admin = PulsarAdmin.builder().serviceHttpUrl(broker.getWebServiceAddress()).build();
        client = PulsarClient.builder().serviceUrl(broker.getBrokerServiceUrl()).build();
        admin.clusters().createCluster(CLUSTER, ClusterData.builder().serviceUrl(broker.getWebServiceAddress())
                .brokerServiceUrl(broker.getBrokerServiceUrl()).build());
        var tenant = TenantInfo.builder().allowedClusters(Set.of(CLUSTER)).build();
        admin.tenants().createTenant(NAMESPACE.split("/")[0], tenant);
        admin.namespaces().createNamespace(NAMESPACE);
    }

    /** Has a story told on a new broker with changed settings and an empty folder, and exits with its exit status. */
    static void tell(String folder, Consumer<ServiceConfiguration> change, Story story) {
        System.setOut(System.err); // what the servers log
        int status = NO_VERDICT;
        try (var servers = new WholeBroker(Path.of(folder), change)) {
            say("Pulsar %s: %s, %s, %s; Java %s", servers.admin.brokers().getVersion(), jar(ManagedLedger.class),
                    jar(BookKeeperAdmin.class), jar(ZooKeeperServer.class), System.getProperty("java.version"));
            status = story.tell(servers);
        } catch (Throwable error) {
            say("The run did not come to its end: %s", error);
            error.printStackTrace();
        } finally {
            Runtime.getRuntime().halt(status); // a server's thread may still run
        }
    }

    /** Steps on a broker, which answer with an exit status. */
    interface Story {
        int tell(WholeBroker servers) throws Exception;
    }

    /** What is done on a topic, and what is printed of it. */
    interface Step<T> {
        Object on(T topic) throws Exception;
    }

    /** Takes a step on one topic after the other, and prints them in a line. */
    static <T> void line(String step, List<T> topics, Step<T> take) throws Exception {
        var line = new StringBuilder(String.format("%-40s", step));
        for (T topic : topics) {
            line.append(String.format("  %-10s", take.on(topic)));
        }
        say("%s", line.toString().stripTrailing());
    }

    /** Prints a line. */
    static void say(String format, Object... values) {
        STORY.printf(format + "%n", values);
    }

    /** The full name of a new topic. */
    String topic(String name) throws Exception {
        var full = "persistent://" + NAMESPACE + "/" + name.replace(' ', '-');
        admin.topics().createNonPartitionedTopic(full);
        return full;
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

    @Override
    public void close() throws Exception {
        client.close();
        admin.close();
        broker.close();
        bookie.close();
        zookeeper.shutdown();
    }
}
