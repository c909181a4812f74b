"""What can be done to a delayed-delivery tracker, and with what it is configured."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from broker_tck.properties.engine.operation import BUDGET, CLOCK, POSITION, Bulk, Duration, Operation, Time
from broker_tck.properties.engine.units import TIME as TIMES

Tick = Annotated[int, Meta(ge=0, le=2**40)]
LedgerId = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1, extra=POSITION)]
EntryId = Annotated[int, Meta(ge=0, le=2**63 - 1, extra=POSITION)]


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The configuration of a trace."""

    tick: Tick = 1000
    """The tick time in milliseconds: how much too early a message may come where delivery is not strict."""
    strict: bool = False
    """Whether no message may come before its time."""
    lookahead: Annotated[int, Meta(ge=0, le=2**31 - 1)] = 0
    """How many messages of one fixed delay are held before deliveries pause; 0: they never do."""
    clock: Annotated[int, Meta(ge=0, le=2**53, extra=CLOCK)] = 1_700_000_000_000
    """The time at the start, in milliseconds."""


class Capabilities(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a subject may declare. A subject is never asked for what it says that it lacks."""

    entry_id_bits: Annotated[int, Meta(ge=16, le=63)] = 32
    """Entry ids are below 2 to this power."""
    memory_estimate: bool = True
    """It estimates the memory that its index takes."""
    jumps: bool = True
    """Its clock may be set."""
    shows_kept: bool = True
    """It shows which ids it keeps: it runs in Python, or its method ``collect_garbage`` lets go of all others."""
    batch_adds: bool = False
    """It takes many messages in one call, `add_messages`, which `fill` uses."""


class Add(Operation, frozen=True, tag="add"):
    """Add a message (``add_message``); result: whether it was taken."""

    ledger: LedgerId
    entry: EntryId
    at: Time


class Fill(Operation, frozen=True, tag="fill"):
    """Add n messages of one ledger, from ``entry`` on every ``step``-th, each ``apart`` ms later than the one before.

    Result: how many it took. Below 0 they come earlier and earlier.
    """

    unit = "messages"

    ledger: LedgerId
    entry: EntryId
    step: Annotated[int, Meta(ge=1, le=65_536)]
    n: Bulk
    at: Time
    apart: Annotated[int, Meta(ge=-(2**40), le=2**40)] = 0


class Has(Operation, frozen=True, tag="has"):
    """Ask whether a message is available (``has_message_available``); result: yes or no."""


class Get(Operation, frozen=True, tag="get"):
    """Take what is due, so much at most (``get_scheduled_messages``); result: the positions."""

    most: Annotated[int, Meta(ge=-(2**31), le=2**31 - 1, extra=BUDGET)]


class Pause(Operation, frozen=True, tag="pause"):
    """Ask whether deliveries should pause (``should_pause_all_deliveries``); result: yes or no."""


class ResetTick(Operation, frozen=True, tag="tick"):
    """Change the tick time (``reset_tick_time``); no result."""

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


class Memory(Operation, frozen=True, tag="memory"):
    """Ask how much memory the index takes (``get_buffer_memory_usage``); result: bytes."""

    unit = "bytes"

    needs = "memory_estimate"


class Clear(Operation, frozen=True, tag="clear"):
    """Forget every message (``clear``); no result."""


class Close(Operation, frozen=True, tag="close"):
    """Close the tracker (``close``); no result."""


AnyOperation = Add | Fill | Has | Get | Pause | ResetTick | Advance | Jump | Stale | Memory | Clear | Close
