"""What can be done to a tracker of ack timeouts, and with what it is configured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from broker_tck.properties.engine.operation import CLOCK, POSITION, Bulk, Duration, Operation

LAST_ID = 2**63 - 1
LedgerId = Annotated[int, Meta(ge=0, le=LAST_ID, extra=POSITION)]
EntryId = Annotated[int, Meta(ge=0, le=LAST_ID, extra=POSITION)]
Index = Annotated[int, Meta(ge=-1, le=2**31 - 1, extra=POSITION)]
Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Ms = Annotated[int, Meta(ge=0, le=2**40)]
Name = Annotated[str, Meta(min_length=1, max_length=64)]


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The configuration of a trace. Times are in milliseconds."""

    ack_timeout: Annotated[int, Meta(ge=1, le=2**40)] = 10_000
    """How long the application may take to acknowledge a message."""
    tick: Annotated[int, Meta(ge=1, le=2**40)] = 1_000
    """How often the tracker looks."""
    clock: Annotated[int, Meta(ge=0, le=2**53, extra=CLOCK)] = 1_700_000_000_000
    """What the clock shows at the start."""
    backoff: Annotated[tuple[Ms, ...], Meta(min_length=1)] | None = None
    """The further delay for each redelivery count, the last one for all above; without it there is none."""
    topics: tuple[Name, ...] = ()
    """The topics of a consumer of many. A message is of the topic whose place is its ledger id, modulo their number."""


class Capabilities(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a subject may declare. A subject is never asked for what it says that it lacks."""

    backoff: bool = True
    """It takes a backoff."""
    topics: bool = True
    """It takes the messages of many topics."""
    failing_requests: bool = True
    """A request to the broker may throw."""
    callbacks: bool = True
    """The application may do something inside its callback."""
    threads: bool = True
    """While it calls the application back, it may be called from another thread."""
    jumps: bool = True
    """Its wall clock may be set."""
    shows_kept: bool = True
    """It shows which ids it keeps: it runs in Python, or its method ``collect_garbage`` lets go of all others."""


class Clear(Operation, frozen=True, tag="clear"):
    """Let go of everything (``clear``); no result."""


class Fail(Operation, frozen=True, tag="fail"):
    """The next request throws, after the callback; every second time the callback throws in its place. No result."""

    needs = "failing_requests"


class Close(Operation, frozen=True, tag="close"):
    """Close the tracker (``close``); no result."""


class Stale(Operation, frozen=True, tag="stale"):
    """The timeout that was cancelled last fires all the same; result: as of :class:`Advance`."""


class Add(Operation, frozen=True, tag="add"):
    """Track a message that was redelivered so often before (``add``); result: whether it was not tracked yet.

    A message of a batch has an index. One in several chunks has the entry of the last, the others are before it.
    """

    ledger: LedgerId
    entry: EntryId
    count: Count
    index: Index = -1
    chunks: Annotated[int, Meta(ge=1, le=64)] = 1


class Fill(Operation, frozen=True, tag="fill"):
    """Track n messages, from ``entry`` on one after another (``add``); result: how many were not tracked yet."""

    unit = "messages"
    ledger: LedgerId
    entry: EntryId
    n: Bulk
    count: Count

    def each(self) -> Iterator[tuple[int, int]]:
        """Each message: its ledger and its entry."""
        return ((self.ledger, entry) for entry in range(self.entry, self.entry + self.n))


class Remove(Operation, frozen=True, tag="remove"):
    """A message was acknowledged (``remove``); result: whether it was tracked."""

    ledger: LedgerId
    entry: EntryId
    index: Index = -1


class RemoveTill(Operation, frozen=True, tag="till"):
    """All messages up to one were acknowledged (``remove_messages_till``); result: how many of them were tracked."""

    unit = "messages"
    ledger: LedgerId
    entry: EntryId
    index: Index = -1


class RemoveTopic(Operation, frozen=True, tag="leave"):
    """A topic was left (``remove_topic_messages``); result: how many of its messages were tracked."""

    needs = "topics"
    unit = "messages"
    name: Name


class Advance(Operation, frozen=True, tag="adv"):
    """Time passes, timers fire on the way; result: ``[time, ids, requests]`` of each firing that called.

    The ids are sorted, repeated ones included; each is ledger, entry and batch index. Requests are 1 where one went
    out, and 0 where it threw; they are the ids themselves if they are not those of the callback.
    """

    ms: Duration


class Jump(Operation, frozen=True, tag="jump"):
    """The wall clock is set, forwards or back, and no timer fires; no result.

    All times that are seen are of the clock that never jumps.
    """

    needs = "jumps"

    by: Annotated[int, Meta(ge=-(2**41), le=2**41)]


class Inside(Operation, frozen=True, tag="inside"):
    """The application adds or removes a message, or closes the tracker, inside the next callback; no result.

    The first thing of a trace that is done inside a callback is done from another thread, if the subject allows it.
    """

    needs = "callbacks"
    what: Literal["add", "remove", "close"]
    ledger: LedgerId
    entry: EntryId

    def on(self, to: Any) -> Any:
        made = {"add": Add(self.ledger, self.entry, 0), "remove": Remove(self.ledger, self.entry), "close": Close()}
        return to.inside(made[self.what])


AnyOperation = Clear | Fail | Close | Stale | Add | Fill | Remove | RemoveTill | RemoveTopic | Advance | Jump | Inside


def entries_of(operation: Operation) -> Iterator[tuple[tuple[int, int], object]]:
    """The entries that an operation adds, and what it takes each for."""
    match operation:
        case Add(ledger, entry, chunks=chunks):
            yield (ledger, entry), chunks
            yield from (((ledger, entry - i), Add) for i in range(1, chunks))
        case Fill():
            yield from ((at, 1) for at in operation.each())
        case Inside("add", ledger, entry):
            yield (ledger, entry), 1
