"""What follows if the storage gives fewer entries than it was asked for."""

from __future__ import annotations

from copy import deepcopy
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from broker_tck.model.entry_cache.readers import BROKEN, CLOSED, Request, Run
from broker_tck.model.reference import Allowed, as_allowed, either
from broker_tck.model.rules import Part, rule

if TYPE_CHECKING:
    from broker_tck.model.entry_cache.reads import Reads
    from broker_tck.model.entry_cache.specification import EntryCaches


class ShortAnswers(Part):
    """Reads whose entries come in parts: the subject asks for the rest as it likes, or fails the read."""

    PARTS: ClassVar[str] = "parts of it"
    """What may be asked for in place of the whole rest, in words."""

    def __init__(self, reads: Reads) -> None:
        self.reads = reads
        self.pending = reads.pending
        self.retained = reads.retained
        self.other: EntryCaches | None = None
        """The model as it is if a read has failed, and not gone on: either way the storage is asked for the same.

        The values that are held tell which it is.
        """

    @rule("EC-65", source="ReadEntryUtils, PR 25280", needs="reads")
    def come_short(self, request: Request, n: int) -> Allowed:
        """If the storage gives fewer entries, the read fails, or keeps them and asks for the rest.

        It may ask for parts of the rest, one after another or at the same time, but not again for an entry that is
        still to come. It ends when all entries have come, or when a part fails.
        """
        self.retained.keep(request.whole, request.whole.came | {*request.entries[:n]})
        return self.or_fails(request.whole, self.rest(request.whole))

    def come_in_full(self, request: Request) -> Allowed | None:
        """A request is answered. If it was a part of a read, that may ask for more; with its last part it completes."""
        whole = request.whole
        if request is not whole:
            self.retained.keep(whole, whole.came | {*request.entries})
            if self.pending.rest_of(whole):
                return self.rest(whole)
        if not self.pending.parts_of(whole):
            self.reads.come(whole)
        return None

    def rest(self, whole: Request) -> Allowed:
        """The storage is asked for the rest, or for parts of it; perhaps for nothing while other parts are to come."""
        rest, waits = self.pending.rest_of(whole), bool(self.pending.parts_of(whole))
        asks = ["asks", *whole.order()[:2]]

        def permits(told: list[list[Any]]) -> bool:
            parts = [(first, last) for *does, first, last in told if does == asks]
            return len(parts) == len(told) and (waits or told != []) and self.are_parts(parts, rest)

        def follow(told: list[list[Any]]) -> None:
            self.go_on(whole, [(first, last) for *_, first, last in told])

        example = [[*asks, *run] for run in rest]
        return Allowed(permits, follow, example, f"{example}, or {self.PARTS}")

    def are_parts(self, parts: list[Run], rest: list[Run]) -> bool:
        """Whether some runs, in ascending order, are parts of the rest that do not overlap."""
        within = all(any(r[0] <= first <= last <= r[1] for r in rest) for first, last in parts)
        return within and all(one[1] < other[0] for one, other in pairwise(parts))

    def go_on(self, whole: Request, parts: list[Run]) -> None:
        """Ask for parts of the rest. All of it stays one read, which can be joined."""
        for run in parts:
            part = Request(whole.creator, run, whole)
            self.pending.admit(part)
            self.pending.begin(part)

    def or_fails(self, whole: Request, asks: Allowed) -> Allowed:
        """A read asks for something, or fails."""

        def permits(told: list[list[Any]]) -> bool:
            return asks.permits(told) or told == self.failing(whole)

        def follow(told: list[list[Any]]) -> None:
            if asks.permits(told):
                self.other = self.failed_alike(whole, told)
                asks.follow(told)

        return asks._replace(permits=permits, follow=follow, says=f"{asks.says}, or what follows if the read fails")

    def failed_alike(self, whole: Request, told: list[list[Any]]) -> EntryCaches | None:
        """The model after a failure of a read, if that tells the same; only one that reads again asks for something."""
        if told and not any(reader.partial for reader, *_ in whole.listeners):
            return None
        other, failed = deepcopy((self.reads.model, whole))
        return other if other.reads.short_answers.failing(failed) == told else None

    def failing(self, request: Request) -> list[list[Any]]:
        """What follows if the read fails: all that came is released."""
        self.reads.not_come(request, BROKEN)
        return self.reads.tell()

    def may_repeat(self, request: Request) -> Allowed:
        """A part fails after another part of its read was repeated: it may be repeated as well, or the read fails."""
        asks = [["asks", *request.order()[:4]]]

        def follow(_: list[list[Any]]) -> None:
            self.reads.not_come(request, CLOSED)
            self.reads.tell()

        return self.or_fails(request.whole, Allowed(asks.__eq__, follow, asks, f"{asks}"))

    def references(self) -> int | Allowed:
        """How many values are referred to: as many as are retained, or fewer if a read may have failed."""
        answer = self.retained.references()
        if self.other is None:
            return answer
        other, self.other = self.other, None
        failed = other.reads.short_answers.references()
        says = f"{as_allowed(answer).says or answer}, or fewer if the read fails"
        return either(answer, failed, lambda: self.reads.model.become(other), says)
