package org.apache.pulsar.broker;

public class ServiceConfiguration {}
