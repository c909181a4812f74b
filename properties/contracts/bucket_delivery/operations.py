"""What can be done to a bucket tracker, its storage and its cursor, and with what it is configured."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from broker_tck.properties.engine.operation import BUDGET, CLOCK, POSITION, Bulk, Duration, Operation, Time
from broker_tck.properties.engine.units import TIME as TIMES

Tick = Annotated[int, Meta(ge=0, le=2**40)]
Ledger = Annotated[int, Meta(ge=0, le=2**62, extra=POSITION)]
Entry = Annotated[int, Meta(ge=0, le=2**32 - 1, extra=POSITION)]
Which = Annotated[int, Meta(ge=0, le=2**31)]
Number = Annotated[int, Meta(ge=1, le=2**31)]

WAITS, AT_ONCE = range(2)
"""When calls to storage and cursor end: when they are told to, or as they are made."""


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The configuration of a trace."""

    min_index_count: Annotated[int, Meta(ge=0, le=2**31 - 1)] = 2
    """So many messages in memory make a bucket."""
    time_step: Annotated[int, Meta(ge=0, le=2**40)] = 10
    """How many milliseconds a segment may span."""
    max_indexes: Annotated[int, Meta(ge=-1, le=2**31 - 1)] = -1
    """How many messages a segment may have; -1: there is no limit."""
    max_buckets: Annotated[int, Meta(ge=-1, le=2**31 - 1)] = -1
    """With more buckets than that, some are trimmed or merged; 0 or less: there is no limit."""
    tick: Tick = 1
    """The tick time in milliseconds: how much too early a message may come where delivery is not strict."""
    strict: bool = True
    """Whether no message may come before its time."""
    clock: Annotated[int, Meta(ge=0, le=2**53, extra=CLOCK)] = 1_000_000
    """The time at the start, in milliseconds."""
    key_order: Literal["up", "down"] = "up"
    """How the cursor's properties are handed to a recovery: by ascending or descending ranges."""


class Capabilities(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a subject may declare. A subject is never asked for what it says that it lacks."""

    shows_buckets: bool = True
    """What it has in buckets and queues can be seen."""
    calls_under_way: bool = True
    """It goes on while calls to storage and cursor are under way. Without it they end as they are made."""
    maintenance: bool = True
    """It trims and merges where there are more buckets than a limit. Without it there is no limit."""
    tells_when_closed: bool = True
    """A close that has to wait tells when it has ended. Without it, it is not asked how many have not."""
    jumps: bool = True
    """Its clock may be set."""


class Add(Operation, frozen=True, tag="add"):
    """Add a message (``add_message``); result: whether it was taken."""

    ledger: Ledger
    entry: Entry
    at: Time


class Fill(Operation, frozen=True, tag="fill"):
    """Add n messages, entry by entry, ``each`` of one ledger and then of the next; result: how many were taken.

    Each is ``apart`` ms later than the one before, or sooner if that is below 0. Where these come to ``within`` ms,
    they begin anew; 0: they never do.
    """

    ledger: Ledger
    entry: Entry
    each: Annotated[int, Meta(ge=1, le=1_000_000)]
    n: Bulk
    at: Time
    apart: Annotated[int, Meta(ge=-(2**40), le=2**40)] = 0
    within: Annotated[int, Meta(ge=0, le=2**40)] = 0


class Contains(Operation, frozen=True, tag="contains"):
    """Ask whether a message is tracked (``contains_message``); result: yes or no."""

    ledger: Ledger
    entry: Entry


class Has(Operation, frozen=True, tag="has"):
    """Ask whether a message is available (``has_message_available``); result: yes or no."""


class Get(Operation, frozen=True, tag="get"):
    """Take what is due, so much at most (``get_scheduled_messages``); result: the positions."""

    most: Annotated[int, Meta(ge=0, le=2**31 - 1, extra=BUDGET)]


class Pause(Operation, frozen=True, tag="pause"):
    """Ask whether deliveries should pause (``should_pause_all_deliveries``); result: yes or no."""


class ResetTick(Operation, frozen=True, tag="tick"):
    """Change the tick time (``reset_tick_time``), until another tracker recovers; no result."""

    tick: Tick


class Advance(Operation, frozen=True, tag="adv"):
    """The clock moves, timers fire on the way; result: the times at which a firing asked for a read."""

    unit = TIMES

    ms: Duration


class Jump(Operation, frozen=True, tag="jump"):
    """The wall clock is set, forwards or back, and no timer fires; no result.

    A timeout that is armed waits as long as before, by a clock that never jumps. Times of timeouts are shown as the
    wall clock will show them if it is not set again.
    """

    needs = "jumps"

    by: Annotated[int, Meta(ge=-(2**41), le=2**41)]


class Stale(Operation, frozen=True, tag="stale"):
    """The timeout that was cancelled last fires all the same; result: whether it asked for a read."""


class Clear(Operation, frozen=True, tag="clear"):
    """Forget every message and delete every snapshot (``clear``); no result."""


class Mark(Operation, frozen=True, tag="mark"):
    """The cursor's mark-delete position moves; entry -1: nothing of its ledger is acknowledged. No result."""

    ledger: Ledger
    entry: Annotated[int, Meta(ge=-1, le=2**32 - 1, extra=POSITION)]


class Complete(Operation, frozen=True, tag="complete"):
    """A call that waits takes effect and ends; result: its label, null where none waits."""

    needs = "calls_under_way"
    call: Which


class Fail(Operation, frozen=True, tag="fail"):
    """A call that waits was not persisted, and has no effect; result: its label."""

    needs = "calls_under_way"
    call: Which


class Conflict(Operation, frozen=True, tag="conflict"):
    """A key update that waits meets a bad version; any other call was not persisted; result: its label."""

    needs = "calls_under_way"
    call: Which


class Stored(Operation, frozen=True, tag="stored"):
    """A call that waits takes effect, and ends as if it was not persisted; result: its label."""

    needs = "calls_under_way"
    call: Which


class Storage(Operation, frozen=True, tag="storage"):
    """From now on calls wait to be ended (0), or take effect and end as they are made (1); no result."""

    mode: Annotated[int, Meta(ge=0, le=1)]


class Snapshot(Operation, frozen=True, tag="snapshot"):
    """Look at a snapshot; result, of each segment: first and last time, positions as it says itself, and indexes."""

    number: Number


class Snapshots(Operation, frozen=True, tag="snapshots"):
    """Ask which snapshots are stored; result: their numbers."""


class Vanish(Operation, frozen=True, tag="vanish"):
    """A snapshot is gone, its key is not; no result."""

    number: Number


class Spoil(Operation, frozen=True, tag="spoil"):
    """A snapshot can no longer be read; no result."""

    number: Number


class Lost(Operation, frozen=True, tag="lost"):
    """The cursor has lost its properties; no result."""


class Crash(Operation, frozen=True, tag="crash"):
    """The broker is gone, waiting calls with it, and another one recovers; so many of its reads fail at first.

    ``order`` is the number of a permutation of the properties: 0 leaves them as the configuration says. No result.
    """

    failing: Annotated[int, Meta(ge=0, le=1000)] = 0
    order: Annotated[int, Meta(ge=0, le=2**31)] = 0


class Reopen(Operation, frozen=True, tag="reopen"):
    """The tracker is closed and another one recovers; what it reads comes to nothing, its other calls still wait.

    Result: whether the closing has ended at once.
    """


class Closing(Operation, frozen=True, tag="closing"):
    """Ask how many of the trackers that were closed have not told yet that their closing has ended; a crash ends all.

    Result: the number.
    """

    needs = "tells_when_closed"
    unit = "trackers"


AnyOperation = (
    Add
    | Fill
    | Contains
    | Has
    | Get
    | Pause
    | ResetTick
    | Advance
    | Jump
    | Stale
    | Clear
    | Mark
    | Complete
    | Fail
    | Conflict
    | Stored
    | Storage
    | Snapshot
    | Snapshots
    | Vanish
    | Spoil
    | Lost
    | Crash
    | Reopen
    | Closing
)
