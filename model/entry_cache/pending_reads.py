"""Reads that the storage was asked for: those that wait for its answer, and those that can be joined."""

from __future__ import annotations

from broker_tck.model.entry_cache.entries import Cache
from broker_tck.model.entry_cache.readers import Reader, Request, Run
from broker_tck.model.parts.calls import CallsUnderWay
from broker_tck.model.rules import rule

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

    @rule("EC-50", source="PendingReadsManager, PR 17241", needs="reads")
    def joins(self, request: Request, first: int, last: int) -> bool:
        """A read joins those that run already in whatever part they overlap. What they leave of it is read as any other
        part of a ledger: out of the cache, then from the storage.
        """
        return request.first <= last and first <= request.last

    @rule("EC-50", needs="reads")
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

    @rule("EC-54", source="RangeEntryCacheImpl, 2026", needs="reads")
    def forgets_at(self, kind: int) -> bool:
        """A storage read that fails, but for too many requests, has all running reads of its ledger forgotten; one that
        raises takes the cached entries of the ledger along; one whose handle was closed is made once more.
        """
        return kind != BUSY

    @rule("EC-54", needs="reads", when=lambda p, request: not request.reopened)
    def reopens(self, request: Request) -> bool:
        """A read whose ledger handle was closed is made once more, once."""
        return not request.reopened
