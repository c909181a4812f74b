"""The limit of reads in flight: permits for bytes, and a queue of reads that wait for them."""

from __future__ import annotations

from collections import deque
from typing import Protocol

from broker_tck.model.entry_cache.readers import SINGLE, Reader
from broker_tck.model.rules import Part, also, rule
from broker_tck.model.said import said

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

    @said(
        cursors_only="Your cache limits the reads of cursors alone; each read takes permits.",
        not_without_cache=(
            "Your cache does not limit the reads of a topic that keeps nothing; each read takes permits."
        ),
        misses_only="Your cache limits only reads that miss something; each read takes permits.",
        absent="Your cache does not limit the reads in flight; each read has to take permits.",
    )
    @rule(
        "EC-55",
        "Where a limit is set, each read takes permits for the bytes that it is estimated to hold, and gives them back "
        "with its last entry. What does not fit waits in a queue, which is served from its head, and not for ever.",
        source="InflightReadsLimiter, PR 23901",
        look="permits that are counted twice or lost; reads that are not limited; the head of the queue, and its time",
        needs="reads",
        absent=lambda r, reader: False,
        not_without_cache=lambda r, reader: r.config.max_reads_in_flight > 0 and not reader.cache.disabled,
        cursors_only=lambda r, reader: r.config.max_reads_in_flight > 0 and reader.cursor != SINGLE,
        misses_only=lambda r, reader: (
            r.config.max_reads_in_flight > 0
            and not all((reader.ledger, entry) in reader.cache.entries for entry in reader.entries)
        ),
    )
    def is_limited(self, reader: Reader) -> bool:
        """Whether a read needs permits: a cursor's or a single one, a hit or a miss."""
        return self.config.max_reads_in_flight > 0

    @said(
        without_overhead="Your cache leaves the overhead out of what a read is estimated to hold.",
        always_unknown=(
            "Your cache takes permits as if nothing were known of a ledger's entries; it has to go by their average "
            "size."
        ),
        absent=(
            "Your cache takes one permit for each entry; it has to take as many as the entry is estimated to hold "
            "bytes."
        ),
    )
    @also(
        is_limited,
        absent=lambda r, reader, average: 1,
        without_overhead=lambda r, reader, average: r.size(reader, average),
        always_unknown=lambda r, reader, average: UNKNOWN_SIZE + OVERHEAD,
    )
    def estimate(self, reader: Reader, average: int | None) -> int:
        """What each entry is estimated to hold: the average of its ledger, if that is known, and 64 bytes more."""
        return self.size(reader, average) + OVERHEAD

    @said(
        added_alone=(
            "Where a ledger tells nothing, your cache takes the average of what was cached; it has to take 10 KiB at "
            "least."
        ),
        absent=(
            "Where a ledger tells nothing, your cache always takes 10 KiB for an entry; the average of what was "
            "cached may be more."
        ),
    )
    @also(is_limited, absent=lambda r, reader: UNKNOWN_SIZE, added_alone=lambda r, reader: reader.cache.average_added())
    def unknown(self, reader: Reader) -> int:
        """The size of an entry where its ledger tells nothing: the average of what was cached, and 10 KiB at least."""
        return max(reader.cache.average_added(), UNKNOWN_SIZE)

    def size(self, reader: Reader, average: int | None) -> int:
        """The size that an entry is taken to have."""
        return self.unknown(reader) if average is None else average

    @said(
        however_many="Your cache lets a read begin while any permit is left; there have to be as many as it takes.",
        absent="Your cache lets a read wait that takes exactly the permits that are left; it fits.",
    )
    @also(is_limited, absent=lambda r, permits: r.remaining > permits, however_many=lambda r, permits: r.remaining > 0)
    def fits(self, permits: int) -> bool:
        """Whether there are so many permits. A read that fits overtakes those that wait."""
        return self.remaining >= permits

    @said(
        one_more="Your cache lets one read more wait for permits than its queue may hold.",
        nobody_waits="A read of your cache that does not fit fails at once; it has to wait in the queue.",
        absent="Your cache lets any number of reads wait for permits; its queue may hold so many only.",
    )
    @also(
        is_limited,
        absent=lambda r: True,
        one_more=lambda r: len(r.waiting) <= r.config.acquire_queue,
        nobody_waits=lambda r: False,
    )
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

    @said(
        absent="Your cache gives permits back with a read's first entry that is freed; it has to with the last one.",
    )
    @also(is_limited, absent=lambda r, reader: True)
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

    @said(
        at_the_time_as_well=(
            "Your cache fails a read that is served from the queue exactly at its time; only one that waited for "
            "longer is too late."
        ),
        absent=(
            "Your cache lets a read wait on that waited for too long already when permits come back; it has to fail."
        ),
    )
    @also(
        is_limited,
        absent=lambda r, age: False,
        at_the_time_as_well=lambda r, age: 0 < r.config.acquire_timeout <= age,
    )
    def too_late(self, age: int) -> bool:
        """Whether a read that does not fit fails, as permits come back, since it waited for longer than it may."""
        return 0 < self.config.acquire_timeout < age

    @said(
        beyond_the_time=(
            "A read that waits in your cache fails a moment after its time; it has to fail when that is reached."
        ),
        absent="A read waits for permits in your cache for ever; it has to fail when its time is over.",
    )
    @also(
        is_limited,
        absent=lambda r, age: False,
        beyond_the_time=lambda r, age: 0 < r.config.acquire_timeout < age,
    )
    def timed_out(self, age: int) -> bool:
        """Whether a read fails when the timer asks, since it waited for as long as it may."""
        return 0 < self.config.acquire_timeout <= age
