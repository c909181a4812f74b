"""Brokers with one broken part of reads through an entry cache."""

from __future__ import annotations

from broker_tck.implementations.entry_cache.reads import CacheReads, ReadLimiter
from broker_tck.implementations.entry_cache.removal_queue import RemovalQueue
from broker_tck.implementations.interface import Clock, EntryCacheConfig, Execute


def around_reads(broken: type[CacheReads]) -> type[RemovalQueue]:
    """The removal queue with these reads."""

    class Broker(RemovalQueue):
        """A broker with broken reads."""

        reads = broken

    return Broker


def around_limiter(broken: type[ReadLimiter]) -> type[RemovalQueue]:
    """The removal queue with this limiter."""

    class Broker(RemovalQueue):
        """A broker with a broken limiter."""

        def __init__(self, config: EntryCacheConfig, clock: Clock, execute: Execute) -> None:
            super().__init__(config, clock, execute)
            if self._limiter:
                limit, queue = config.max_reads_in_flight, config.acquire_queue
                self._limiter = broken(limit, queue, config.acquire_timeout, clock)

    return Broker
