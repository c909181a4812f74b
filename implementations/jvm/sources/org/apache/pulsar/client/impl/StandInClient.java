package org.apache.pulsar.client.impl;

import io.netty.util.Timer;
import org.apache.pulsar.client.impl.metrics.InstrumentProvider;

/** A client that has a timer, made without any constructor. */
public class StandInClient extends PulsarClientImpl {

    public Timer itsTimer;

    @Override
    public Timer timer() {
        return itsTimer;
    }

    @Override
    public InstrumentProvider instrumentProvider() {
        return InstrumentProvider.NOOP;
    }
}
