package com.example;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timer;
import java.time.Clock;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.broker.delayed.DelayedDeliveryTracker;
import org.apache.pulsar.broker.delayed.DelayedDeliveryTrackerFactory;
import org.apache.pulsar.broker.service.persistent.AbstractPersistentDispatcherMultipleConsumers;

/** What a broker names in {@code delayedDeliveryTrackerFactoryClassName}. */
public class SortedTrackerFactory implements DelayedDeliveryTrackerFactory {

    private final Clock clock = Clock.systemUTC();
    private Timer timer;
    private ServiceConfiguration configuration;

    @Override
    public void initialize(PulsarService broker) {
        timer = new HashedWheelTimer();
        configuration = broker.getConfig();
    }

    @Override
    public DelayedDeliveryTracker newTracker(AbstractPersistentDispatcherMultipleConsumers dispatcher) {
        return new SortedTracker(dispatcher, timer, configuration.getDelayedDeliveryTickTimeMillis(), clock,
                configuration.isDelayedDeliveryDeliverAtTimeStrict(),
                configuration.getDelayedDeliveryFixedDelayDetectionLookahead());
    }

    @Override
    public void close() {
        timer.stop();
    }
}
