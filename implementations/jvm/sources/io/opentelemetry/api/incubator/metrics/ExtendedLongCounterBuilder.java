package io.opentelemetry.api.incubator.metrics;

/** What a counter of the client's asks its builder to be. The builder that counts nothing is none. */
public interface ExtendedLongCounterBuilder {}
