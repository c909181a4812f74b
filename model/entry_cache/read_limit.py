"""The limit of reads in flight: permits for bytes, and a queue of reads that wait for them."""

from __future__ import annotations

from collections import deque
from typing import Protocol

from broker_tck.model.entry_cache.readers import Reader
from broker_tck.model.rules import Part, rule

OVERHEAD = 64
"""Bytes that the limiter takes for each entry beside its own."""
UNKNOWN_SIZE = 10_240
"""Bytes that it takes for an entry of a ledger of which nothing is known."""


class Config(Protocol):
    """What a trace configures of it."""

    @property
    def max_reads_in_flight(self) -> int:
        """Bytes that reads may have taken at once; 0 for no limit."""

    @property
    def acquire_timeout(self) -> int:
        """Milliseconds that a read may wait; 0 for any time."""

    @property
    def acquire_queue(self) -> int:
        """How many reads may wait."""


class ReadLimit(Part):
    """Permits, and who waits for them. A reader keeps what it took until its last entry is freed."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.remaining = config.max_reads_in_flight
        self.waiting: deque[Reader] = deque()

    # ---- What a read takes

    @rule("EC-55", source="InflightReadsLimiter, PR 23901", needs="reads")
    def is_limited(self, reader: Reader) -> bool:
        """Where a limit is set, each read takes permits for the bytes that it is estimated to hold, and gives them back
        with its last entry. What does not fit waits in a queue, which is served from its head, and not for ever.
        """
        return self.config.max_reads_in_flight > 0

    @rule("EC-55", needs="reads")
    def estimate(self, reader: Reader, average: int | None) -> int:
        """What each entry is estimated to hold: the average of its ledger, if that is known, and 64 bytes more."""
        return self.size(reader, average) + OVERHEAD

    @rule("EC-55", needs="reads")
    def unknown(self, reader: Reader) -> int:
        """The size of an entry where its ledger tells nothing: the average of what was cached, and 10 KiB at least."""
        return max(reader.cache.average_added(), UNKNOWN_SIZE)

    def size(self, reader: Reader, average: int | None) -> int:
        """The size that an entry is taken to have."""
        return self.unknown(reader) if average is None else average

    @rule("EC-55", needs="reads")
    def fits(self, permits: int) -> bool:
        """Whether there are so many permits. A read that fits overtakes those that wait."""
        return self.remaining >= permits

    @rule("EC-55", needs="reads")
    def has_room(self) -> bool:
        """Whether one more can wait; a read that cannot is refused at once."""
        return len(self.waiting) < self.config.acquire_queue

    def take(self, reader: Reader) -> bool:
        """A reader takes its permits, if they are there; answers whether they were."""
        if not self.fits(reader.permits):
            return False
        self.remaining -= reader.permits
        return True

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
        """Whether permits are given back as an entry is freed: with the last one."""
        return not reader.left

    def give_back(self, reader: Reader) -> None:
        """A reader needs its permits no more."""
        self.remaining += reader.permits
        reader.permits = 0

    def serve(self, now: int) -> Reader | None:
        """Permits came back: the head of the queue, with permits, or without if it fails; None: it goes on waiting."""
        if not self.waiting:
            return None
        head = self.waiting[0]
        if self.fits(head.permits):
            self.remaining -= head.permits
            return self.waiting.popleft()
        return self.refused_head() if self.too_late(now - head.since) else None

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
        """Whether a read that does not fit fails, as permits come back, since it waited for longer than it may."""
        return 0 < self.config.acquire_timeout < age

    @rule("EC-55", needs="reads")
    def timed_out(self, age: int) -> bool:
        """Whether a read fails when the timer asks, since it waited for as long as it may."""
        return 0 < self.config.acquire_timeout <= age
