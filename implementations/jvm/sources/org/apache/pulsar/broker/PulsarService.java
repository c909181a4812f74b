package org.apache.pulsar.broker;

/** The broker, of which a factory asks for the configuration. The real one loads a hundred libraries. */
public class PulsarService {

    public static ServiceConfiguration configuration;

    public ServiceConfiguration getConfig() {
        return configuration;
    }

    public ServiceConfiguration getConfiguration() {
        return configuration;
    }
}
