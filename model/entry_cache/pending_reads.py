"""Reads that the storage was asked for: those that wait for its answer, and those that can be joined."""

from __future__ import annotations

from broker_tck.model.entry_cache.entries import Cache
from broker_tck.model.entry_cache.readers import Reader, Request, Run
from broker_tck.model.parts.calls import CallsUnderWay
from broker_tck.model.rules import also, rule
from broker_tck.model.said import said

WAITS, COMPLETES, FAILS, RAISES = range(4)
"""What the storage does when it is asked: waits to be told, completes at once, fails at once, raises."""
BUSY, BROKEN, CLOSED = range(3)
"""How a storage read fails: too many requests, anything else, the ledger's handle was closed."""


class PendingReads(CallsUnderWay[Request]):
    """Requests that wait for the storage, by topic, ledger and entries, and then as they were made."""

    def __init__(self) -> None:
        super().__init__(order=Request.order)
        self.requests = 0
        self.running: list[Request] = []
        """Those that can be joined."""
        self.mode = WAITS
        """What the storage does when it is asked."""

    # ---- Reads that run already are joined

    @said(
        absent="Your cache never joins a read that runs already; it has to where they overlap.",
        the_same_only="Your cache joins only a read of the same range; it has to join whatever overlaps.",
        those_with_all_of_it=(
            "A read of your cache joins only a running one that covers all of it; it has to join wherever they overlap."
        ),
        none_that_begins_before=(
            "A read of your cache does not join a running one that begins before it and ends inside it; it has to "
            "join wherever they overlap."
        ),
        none_that_ends_behind=(
            "A read of your cache does not join a running one that begins inside it and ends behind it; it has to "
            "join wherever they overlap."
        ),
        none_inside=(
            "A read of your cache does not join a running one that lies inside it; it has to join wherever they "
            "overlap."
        ),
    )
    @rule(
        "EC-50",
        "A read joins those that run already in whatever part they overlap. What they leave of it is read as any other "
        "part of a ledger: out of the cache, then from the storage.",
        source="PendingReadsManager, PR 17241",
        look="the same range, a larger one, one that begins before, ends behind or lies inside; several of them",
        needs="reads",
        absent=lambda p, request, first, last: False,
        the_same_only=lambda p, request, first, last: (request.first, request.last) == (first, last),
        those_with_all_of_it=lambda p, request, first, last: request.first <= first and last <= request.last,
        none_that_begins_before=lambda p, request, first, last: (
            (request.first <= first and last <= request.last) or first <= request.first <= last
        ),
        none_that_ends_behind=lambda p, request, first, last: (
            (request.first <= first and last <= request.last) or first <= request.last <= last
        ),
        none_inside=lambda p, request, first, last: (
            request.first <= last and first <= request.last and not (first < request.first and request.last < last)
        ),
    )
    def joins(self, request: Request, first: int, last: int) -> bool:
        return request.first <= last and first <= request.last

    @said(
        absent="A read of your cache joins reads of another cache; it may only join those of its own.",
    )
    @also(joins, absent=lambda p, request, reader, disabled: request.ledger == reader.ledger)
    def of_its_cache(self, request: Request, reader: Reader, disabled: bool) -> bool:
        """Whether a read is one of the same cache and ledger. What a disabled cache reads cannot be joined."""
        return request.ledger == reader.ledger and request.cache is reader.cache and not disabled

    def join(self, reader: Reader, run: Run, disabled: bool) -> tuple[int, list[int]]:
        """Listen for the reads that run; answers with how many these are, and the entries that they leave."""
        first, last = run
        left = {*range(first, last + 1)}
        joined = [r for r in self.running if self.of_its_cache(r, reader, disabled) and self.joins(r, first, last)]
        for request in joined:
            request.listeners.append((reader, max(first, request.first), min(last, request.last)))
            left.difference_update(request.entries)
        return len(joined), sorted(left)

    # ---- The storage is asked, and answers

    def admit(self, request: Request) -> int:
        """The storage is asked; answers with what it does, which is to wait if it was asked for that ledger before."""
        self.requests += 1
        request.number = self.requests
        if not request.reopened:
            self.running.append(request)
        alone = not any(other.order()[:2] == request.order()[:2] for other in self.waiting)
        return self.mode if alone else WAITS

    def forget(self, request: Request) -> None:
        """This one can no longer be joined."""
        self.running = [r for r in self.running if r is not request]

    def forget_all(self, cache: Cache) -> None:
        """No read of a cache can be joined any more."""
        if self.running:
            self.running = [r for r in self.running if r.cache is not cache]

    def forget_ledger(self, cache: Cache, ledger: int) -> None:
        """No read of a ledger can be joined any more."""
        if self.running:
            self.running = [r for r in self.running if r.cache is not cache or r.ledger != ledger]

    def runs(self, cache: Cache, ledger: int | None = None) -> bool:
        """Whether a read of a cache, or of one of its ledgers, can be joined."""
        return any(r.cache is cache and ledger in (None, r.ledger) for r in self.running)

    # ---- The storage fails

    @said(
        absent="After a failure your cache still has reads of that ledger running; it has to forget them.",
        at_any_failure="Your cache forgets running reads after too many requests; that failure alone leaves them.",
    )
    @rule(
        "EC-54",
        "A storage read that fails, but for too many requests, has all running reads of its ledger forgotten; one that "
        "raises takes the cached entries of the ledger along; one whose handle was closed is made once more.",
        source="RangeEntryCacheImpl, 2026",
        look="reads that join what was asked of a broken ledger; which failures these are; a second try, and no third",
        needs="reads",
        absent=lambda p, kind: False,
        at_any_failure=lambda p, kind: True,
    )
    def forgets_at(self, kind: int) -> bool:
        """Whether a failure has the running reads of the ledger forgotten."""
        return kind != BUSY

    @said(
        absent="Your cache gives up where a handle was closed; the read is made once more.",
        every_time="Your cache makes a read whose handle was closed again and again; it may once more only.",
    )
    @also(forgets_at, absent=lambda p, request: False, every_time=lambda p, request: True)
    def reopens(self, request: Request) -> bool:
        """Whether a read whose handle was closed is made once more."""
        return not request.reopened
