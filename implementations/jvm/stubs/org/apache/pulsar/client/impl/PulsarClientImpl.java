package org.apache.pulsar.client.impl;

import io.netty.util.Timer;
import org.apache.pulsar.client.impl.metrics.InstrumentProvider;

public class PulsarClientImpl {
    public native Timer timer();

    public native InstrumentProvider instrumentProvider();
}
