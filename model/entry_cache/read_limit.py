"""The limit of reads in flight: permits for bytes, and a queue of reads that wait for them."""

from __future__ import annotations

from collections import deque

from broker_tck.model.entry_cache.entries import Config
from broker_tck.model.entry_cache.readers import Reader
from broker_tck.model.rules import Part, rule

OVERHEAD = 64
"""Bytes that the limiter takes for each entry beside its own."""
UNKNOWN_SIZE = 10_240
"""Bytes that it takes for an entry of a ledger of which nothing is known."""


class ReadLimit(Part):
    """Permits, and who waits for them. A reader keeps what it took until its last entry is freed."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.remaining = config.max_reads_in_flight
        self.waiting: deque[Reader] = deque()

    # ---- What a read takes

    @rule("EC-55", source="InflightReadsLimiter, PR 23901", needs="reads")
    def is_limited(self, reader: Reader) -> bool:
        """If there is a limit, each read takes a permit for each byte of its estimated size."""
        return self.config.max_reads_in_flight > 0

    @rule("EC-55", needs="reads")
    def estimate(self, reader: Reader, average: int | None) -> int:
        """The estimate of an entry is the average size of its ledger's entries, plus 64 bytes."""
        return (self.unknown(reader) if average is None else average) + OVERHEAD

    @rule("EC-55", needs="reads")
    def unknown(self, reader: Reader) -> int:
        """If the ledger's average is not known, the cache's average is used, but at least 10 KiB.

        The average of a cache is that of all entries that it ever took.
        """
        return max(reader.cache.average_added(), UNKNOWN_SIZE)

    @rule("EC-55", needs="reads")
    def fits(self, permits: int) -> bool:
        """If there are too few permits, a read waits in a queue. A later read that fits overtakes it."""
        return self.remaining >= permits

    def take(self, reader: Reader) -> bool:
        """A reader takes its permits, if they are there; answers whether they were."""
        if not self.fits(reader.permits):
            return False
        self.grant(reader)
        return True

    def grant(self, reader: Reader) -> None:
        """A reader has what it needs."""
        self.remaining -= reader.permits

    @rule("EC-55", needs="reads")
    def has_room(self) -> bool:
        """If the queue is full, a read that would wait fails at once."""
        return len(self.waiting) < self.config.acquire_queue

    def wait(self, reader: Reader, now: int) -> bool:
        """A reader waits for its permits; answers whether there was room."""
        if not self.has_room():
            reader.permits = 0
            return False
        reader.since = now
        self.waiting.append(reader)
        return True

    # ---- What comes back

    @rule("EC-55", needs="reads")
    def returns_permits(self, reader: Reader) -> bool:
        """A read gives its permits back when its last entry is freed.

        A read that fails gives them back before its reader is told.
        """
        return not reader.left

    def give_back(self, reader: Reader) -> None:
        """A reader needs its permits no more."""
        self.remaining += reader.permits
        reader.permits = 0

    @rule("EC-55", needs="reads", when=lambda r, now: len(r.waiting) > 1)
    def serve(self, now: int) -> Reader | None:
        """When permits come back, reads leave the queue from its head, as long as they fit."""
        if not self.waiting:
            return None
        head = self.waiting[0]
        if self.too_late(now - head.since):
            return self.refused_head()
        if not self.fits(head.permits):
            return None
        self.grant(head)
        return self.waiting.popleft()

    def overdue(self, now: int) -> Reader | None:
        """The head of the queue without permits, if the timer has it fail."""
        if not (self.waiting and self.timed_out(now - self.waiting[0].since)):
            return None
        return self.refused_head()

    def refused_head(self) -> Reader:
        """The head leaves the queue without permits."""
        head = self.waiting.popleft()
        head.permits = 0
        return head

    @rule("EC-55", needs="reads")
    def too_late(self, age: int) -> bool:
        """When permits come back, the head fails if it has waited for longer than the time-out, even if it fits."""
        return 0 < self.config.acquire_timeout < age

    @rule("EC-55", needs="reads")
    def timed_out(self, age: int) -> bool:
        """The timer fails reads that have waited for the time-out or longer, one by one from the head."""
        return 0 < self.config.acquire_timeout <= age
