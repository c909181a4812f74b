package org.apache.pulsar.client.api;

public interface MessageId {}
