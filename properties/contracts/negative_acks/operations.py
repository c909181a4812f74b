"""What can be done to a negative-acks tracker, and with what it is configured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from broker_tck.properties.engine.operation import CLOCK, POSITION, Bulk, Duration, Operation

LedgerId = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1, extra=POSITION)]
EntryId = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1, extra=POSITION)]
MOST_REDELIVERED = 2**31 - 1
"""The broker counts redeliveries in an int of Java's."""
Count = Annotated[int, Meta(ge=0, le=MOST_REDELIVERED)]
Ms = Annotated[int, Meta(ge=0, le=2**40)]
Chunks = tuple[tuple[int, int], ...]
"""The positions of a message's chunks, in ascending order."""


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The configuration of a trace. With neither backoff nor multiplier every delay is ``delay_us``."""

    delay_us: Annotated[int, Meta(ge=0, le=2**50)] = 1_000_000
    """The delay of every nack, in microseconds, where there is no backoff."""
    precision_bits: Annotated[int, Meta(ge=0, le=72)] = 8
    """How many low bits of a time are cleared: the width of a bucket."""
    clock: Annotated[int, Meta(ge=0, le=2**53, extra=CLOCK)] = 1_700_000_000_000
    """What both clocks show at the start, in milliseconds."""
    backoff_ms: Annotated[tuple[Ms, ...], Meta(min_length=1)] | None = None
    """The delay in milliseconds for each redelivery count, the last one for all above."""
    multiplier: tuple[Ms, Ms, Annotated[float, Meta(gt=1, le=100)]] | None = None
    """Another backoff: its first delay and its longest in milliseconds, and the factor between two."""

    def __post_init__(self) -> None:
        if self.multiplier and self.multiplier[1] < self.multiplier[0]:
            raise ValueError("the longest delay of the multiplier is below its first")


class Capabilities(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a subject may declare. A subject is never asked for what it says that it lacks."""

    backoff: bool = True
    """It takes a backoff."""
    precision_bits: Annotated[int, Meta(ge=0, le=72)] = 40
    """It takes so many precision bits at most."""
    negative_ids: bool = True
    """It takes ids below 0."""
    failing_requests: bool = True
    """A request to the broker may throw."""
    no_delay: bool = True
    """Its backoff may answer with a delay of 0."""
    callbacks: bool = True
    """The application may do something inside its callback."""
    closes_inside: bool = True
    """The application may close it inside its callback."""
    threads: bool = True
    """While it calls the application back, it may be called from another thread."""
    shows_kept: bool = True
    """It shows which ids it keeps: it runs in Python, or its method ``collect_garbage`` lets go of all others."""
    chunk_ledgers: bool = False
    """It takes messages whose chunks are of several ledgers, and other chunks of a message with a later nack."""


class Nack(Operation, frozen=True, tag="nack"):
    """Nack a message that was redelivered so often before (``add_message``); no result."""

    ledger: LedgerId
    entry: EntryId
    redelivery_count: Count


class NackId(Operation, frozen=True, tag="id"):
    """Nack a message by its id (``add``); no result."""

    ledger: LedgerId
    entry: EntryId


class Batch(Operation, frozen=True, tag="batch"):
    """Nack one message of a batch (``add_message``); no result."""

    ledger: LedgerId
    entry: EntryId
    index: Annotated[int, Meta(ge=0, le=2**31 - 1)]
    redelivery_count: Count


class Chunked(Operation, frozen=True, tag="chunked"):
    """Nack a message in so many chunks, ``apart`` entries apart, of which the entry is the last; no result."""

    ledger: LedgerId
    entry: EntryId
    chunks: Annotated[int, Meta(ge=1, le=64)]
    redelivery_count: Count
    apart: Annotated[int, Meta(ge=1, le=1_000)] = 1

    def each(self) -> Chunks:
        """The positions of the chunks, in ascending order."""
        return chunks_of(self.ledger, self.entry, self.chunks, self.apart)

    def on(self, to: Any) -> Any:
        return to.chunked(self.each(), self.redelivery_count)


class Spread(Chunked, frozen=True, tag="spread"):
    """Nack one whose earlier chunks are, two by two, ``below`` ledgers lower (``add_chunked_message``); no result.

    In each ledger they have the same entry ids: that of the last chunk, and one that is ``apart`` lower.
    """

    needs = "chunk_ledgers"

    below: Annotated[int, Meta(ge=1, le=65_536)] = 1

    def each(self) -> Chunks:
        back = range(self.chunks, 1, -1)  # the first chunk is the furthest from the last
        earlier = ((self.ledger - n // 2 * self.below, self.entry - n % 2 * self.apart) for n in back)
        return (*earlier, (self.ledger, self.entry))


class Fill(Operation, frozen=True, tag="fill"):
    """Nack n messages, every ``step``-th entry from ``entry`` on (``add_message``); no result.

    With several ledgers it is one message of each, then the next of each. Redelivery counts are ``rising`` by so many
    from message to message, over and over in so many ``turns``; 0: they never begin anew. Messages may be in chunks.
    """

    ledger: LedgerId
    entry: EntryId
    step: Annotated[int, Meta(ge=1, le=65_536)]
    n: Bulk
    redelivery_count: Count
    ledgers: Annotated[int, Meta(ge=1, le=65_536)] = 1
    rising: Annotated[int, Meta(ge=0, le=1_000)] = 0
    turns: Annotated[int, Meta(ge=0, le=65_536)] = 0
    chunks: Annotated[int, Meta(ge=1, le=64)] = 1

    def each(self) -> Iterator[tuple[int, int, int]]:
        """Each message: its ledger, its entry, and how often it was redelivered."""
        first, start, step, ledgers = self.ledger, self.entry, self.step, self.ledgers
        count, rising, turns = self.redelivery_count, self.rising, self.turns or self.n
        for i in range(self.n):
            risen = count + i % turns * rising
            yield first + i % ledgers, start + i // ledgers * step, min(risen, MOST_REDELIVERED) if rising else count

    def on(self, to: Any) -> Any:
        nack = to.nack
        for ledger, entry, count in self.each():
            if self.chunks > 1:
                to.chunked(chunks_of(ledger, entry, self.chunks), count)
            else:
                nack(ledger, entry, count)


class Advance(Operation, frozen=True, tag="adv"):
    """Time passes, timers fire on the way; result: ``[time, ids, requests]`` of each firing that called.

    The ids are sorted, repeated ones included. Requests are 1 where one went out, and 0 where it threw. Where several
    went out, they are a list: the number of ids of each.
    """

    ms: Duration


class Jump(Operation, frozen=True, tag="jump"):
    """The wall clock jumps; no result."""

    by: Annotated[int, Meta(ge=-(2**41), le=2**41)]


class Fail(Operation, frozen=True, tag="fail"):
    """The next request throws, after the callback; every second time the callback throws in its place. No result."""

    needs = "failing_requests"


class Close(Operation, frozen=True, tag="close"):
    """Close the tracker (``close``); no result."""


class Inside(Operation, frozen=True, tag="inside"):
    """The application nacks a message, or closes the tracker, inside the next callback; no result.

    The first thing of a trace that is done inside a callback is done from another thread, if the subject allows it.
    """

    needs = "callbacks"
    what: Literal["nack", "close"]
    ledger: LedgerId
    entry: EntryId
    redelivery_count: Count

    def on(self, to: Any) -> Any:
        inner = Close() if self.what == "close" else Nack(self.ledger, self.entry, self.redelivery_count)
        return to.inside(inner)


class Stale(Operation, frozen=True, tag="stale"):
    """The timeout that was cancelled last fires all the same; result: as of :class:`Advance`."""


AnyOperation = Nack | NackId | Batch | Chunked | Spread | Fill | Advance | Jump | Fail | Close | Inside | Stale


def entries_of(operation: Operation) -> Iterator[tuple[tuple[int, int], object]]:
    """The entries that an operation is about, and what it takes each for."""
    match operation:
        case Nack(ledger, entry) | NackId(ledger, entry) | Inside("nack", ledger, entry):
            yield (ledger, entry), Nack
        case Fill(chunks=1):
            yield from (((ledger, entry), Nack) for ledger, entry, _ in operation.each())
        case Fill(chunks=chunks):
            for ledger, entry, _ in operation.each():
                yield from parts_of(chunks_of(ledger, entry, chunks))
        case Batch(ledger, entry):
            yield (ledger, entry), Batch
        case Spread(ledger, entry):
            yield (ledger, entry), Spread
            yield from ((chunk, Chunked) for chunk in operation.each()[:-1])
        case Chunked():
            yield from parts_of(operation.each())


def parts_of(chunks: Chunks) -> Iterator[tuple[tuple[int, int], object]]:
    """The entries of a message in chunks."""
    yield chunks[-1], chunks
    yield from ((chunk, Chunked) for chunk in chunks[:-1])


def chunks_of(ledger: int, entry: int, chunks: int, apart: int = 1) -> Chunks:
    """The positions of the chunks of a message, the last of which is this one."""
    earlier = range(entry - (chunks - 1) * apart, entry, apart)
    return (*((ledger, at) for at in earlier), (ledger, entry))  # the entry as it was given: it may be followed
