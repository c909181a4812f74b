"""What readers, cursors and the storage do: the operations of contract ``entry-cache`` that need its reads.

Those that can have consequences answer with all of them, sorted: ``["asks", topic, ledger, first, last]`` for each
request to the storage, ``["answers", reader, entries, counts]`` and ``["fails", reader]`` for each reader, and last
``["counts", n]`` where start values were asked for n times. Readers are numbered as they come.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from broker_tck.properties.engine.operation import BULK, POSITION, Operation

WAITS, COMPLETES, FAILS, RAISES = range(4)
"""What the storage does when it is asked: waits to be told, completes at once, fails at once, raises."""
BUSY, BROKEN, CLOSED = range(3)
"""How a storage read fails: too many requests, anything else, the ledger's handle was closed."""
Topic = Annotated[int, Meta(ge=0, le=2)]
Ledger = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1, extra=POSITION)]
Entry = Annotated[int, Meta(ge=0, le=2**40, extra=POSITION)]
Flag = Annotated[int, Meta(ge=0, le=1)]
Name = Annotated[int, Meta(ge=0, le=9)]
Which = Annotated[int, Meta(ge=0, le=2**31)]
Length = Annotated[int, Meta(ge=1, le=500)]
"""A dispatcher reads so many entries at once, at most."""


class Reading(Operation, frozen=True):
    """What is done to the reads of a subject, or asked of them."""

    needs = "reads"


class Append(Reading, frozen=True, tag="append"):
    """Add the next entry of a ledger; result: whether it was inserted, null where it is not to be cached."""

    topic: Topic
    ledger: Ledger


class Write(Reading, frozen=True, tag="written"):
    """A ledger has n entries more, written before all this; no result."""

    topic: Topic
    ledger: Ledger
    n: Annotated[int, Meta(ge=0, le=1_000, extra=BULK)]


class Cursor(Reading, frozen=True, tag="cursor"):
    """An active cursor is added, or moves; ``caching``: where reads are not counted, what it reads is cached."""

    topic: Topic
    name: Name
    ledger: Ledger
    entry: Entry
    caching: Flag


class Uncursor(Reading, frozen=True, tag="uncursor"):
    """A cursor is removed; result: whether it was there."""

    topic: Topic
    name: Name


class Crowd(Reading, frozen=True, tag="crowd"):
    """A crowd of cursors with names of their own becomes n: those are added, or move, the others of it leave."""

    topic: Topic
    ledger: Ledger
    entry: Entry
    n: Annotated[int, Meta(ge=0, le=1_000, extra=BULK)]
    caching: Flag = 1


class Fetch(Reading, frozen=True, tag="fetch"):
    """A cursor reads n entries; with ``again`` once more when it is answered, before it returns.

    The first of a trace that reads once more does so from another thread.
    """

    topic: Topic
    cursor: Name
    ledger: Ledger
    first: Entry
    n: Length
    again: Flag


class FetchMany(Reading, frozen=True, tag="fetches"):
    """A cursor reads n entries so many times, each time from ``apart`` entries further on."""

    topic: Topic
    cursor: Name
    ledger: Ledger
    first: Entry
    n: Length
    times: Annotated[int, Meta(ge=0, le=1_000, extra=BULK)]
    apart: Annotated[int, Meta(ge=0, le=500)] = 0


class FetchOne(Reading, frozen=True, tag="single"):
    """A single entry is read."""

    topic: Topic
    ledger: Ledger
    entry: Entry


class Complete(Reading, frozen=True, tag="complete"):
    """One of the pending storage reads completes, by its number in the order of topic, ledger and entries."""

    i: Which


class Short(Reading, frozen=True, tag="short"):
    """One of them is answered with its first n entries, modulo those asked for; from now on the storage waits.

    For the ledger of that read it waits to the end of the trace, however ``storage`` has it answer.
    """

    i: Which
    n: Which


class Fail(Reading, frozen=True, tag="fail"):
    """One of them fails; ``kind`` 0: of too many requests, 1: of anything else, 2: its handle was closed."""

    i: Which
    kind: Annotated[int, Meta(ge=0, le=2)]


class Storage(Reading, frozen=True, tag="storage"):
    """While nothing of a ledger is pending the storage 0 waits, 1 completes at once, 2 fails at once, 3 raises."""

    mode: Annotated[int, Meta(ge=0, le=3)]


class Done(Reading, frozen=True, tag="done"):
    """One of the readers who hold entries lets go of them, by its place among them."""

    i: Which


class Replay(Reading, frozen=True, tag="replay"):
    """What one of them holds is put back to be replayed; result: its counts."""

    i: Which


class Share(Reading, frozen=True, tag="share"):
    """One of them retains what it holds, and releases it; result: its counts."""

    i: Which


class Timeouts(Reading, frozen=True, tag="timeouts"):
    """The timer of those who wait for permits."""


class Permits(Reading, frozen=True, tag="permits"):
    """What is left of the limit; result: bytes."""

    unit = "bytes"


class Hits(Reading, frozen=True, tag="hits"):
    """What reads found; result: entries and bytes of hits, entries and bytes of misses."""

    unit = ("entries hit", "bytes hit", "entries missed", "bytes missed")


ReadingOperation = (
    Append
    | Write
    | Cursor
    | Uncursor
    | Crowd
    | Fetch
    | FetchMany
    | FetchOne
    | Complete
    | Short
    | Fail
    | Storage
    | Done
    | Replay
    | Share
    | Timeouts
    | Permits
    | Hits
)

Answers = Fetch | FetchMany | FetchOne | Complete | Short | Fail | Done | Timeouts
"""Those in which readers may be answered, and caches populated, also ones that their topics have left."""
