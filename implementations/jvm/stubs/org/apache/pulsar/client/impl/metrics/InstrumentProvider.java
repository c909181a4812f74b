package org.apache.pulsar.client.impl.metrics;

public class InstrumentProvider {
    public static final InstrumentProvider NOOP = new InstrumentProvider();
}
