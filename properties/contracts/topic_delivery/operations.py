"""What can be done to the manager of a topic and to its views, and with what it is configured."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from broker_tck.properties.engine.operation import BUDGET, CLOCK, POSITION, Bulk, Duration, Operation, Time

Tick = Annotated[int, Meta(ge=0, le=2**40)]
LedgerId = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1, extra=POSITION)]
EntryId = Annotated[int, Meta(ge=0, le=2**63 - 1, extra=POSITION)]
Name = Annotated[str, Meta(pattern="^[A-Z]$", description="one capital letter")]
Handle = Annotated[str, Meta(pattern="^[A-Z][0-9]+$", description="a capital letter and a number, such as A1")]
"""A view and its dispatcher: ``A2`` is the second that subscription A has opened. One that was never opened is nothing:
an operation on it does nothing and has no result."""


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The configuration of a trace."""

    tick: Tick = 1000
    """The tick time in milliseconds: how much too early a message may come where delivery is not strict."""
    strict: bool | Annotated[int, Meta(ge=0, le=1)] = False
    """Whether no message may come before its time; recorded traces have 0 or 1."""
    lookahead: Annotated[int, Meta(ge=0, le=2**31 - 1)] = 0
    """How many messages of one fixed delay a view sees before its deliveries pause; 0: they never do."""
    prune_ms: Annotated[int, Meta(ge=0, le=2**40)] = 0
    """How many milliseconds apart prunes may be tried; 0: it is taken from the tick. A prune changes no answer."""
    ratio: float | None = 0.5
    """The share of views that a firing has to ask for it to try a prune; null: what is not a number."""
    clock: Annotated[int, Meta(ge=0, le=2**53, extra=CLOCK)] = 1_700_000_000_000
    """The time at the start, in milliseconds."""


class Capabilities(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a subject may declare. A subject is never asked for what it says that it lacks."""

    entry_id_bits: Annotated[int, Meta(ge=16, le=63)] = 32
    """Entry ids are below 2 to this power."""
    memory_estimate: bool = True
    """It estimates the memory that its index takes."""
    shows_index: bool = True
    """How many buckets and sets of entries its index has can be seen."""
    shows_kept: bool = True
    """It shows which ids it keeps: it runs in Python, or its method ``collect_garbage`` lets go of all others."""
    jumps: bool = True
    """Its clock may be set."""


class Open(Operation, frozen=True, tag="open"):
    """A new dispatcher of a subscription asks for a tracker (``create_or_get_tracker``); result: the handle of both."""

    name: Name


class Close(Operation, frozen=True, tag="close"):
    """Close a view (``close``); no result."""

    handle: Handle


class Add(Operation, frozen=True, tag="add"):
    """A view adds a message (``add_message``); result: whether it was taken."""

    handle: Handle
    ledger: LedgerId
    entry: EntryId
    at: Time


class Fill(Operation, frozen=True, tag="fill"):
    """A view adds n messages, from ``entry`` on every ``step``-th, each ``apart`` ms later than the one before.

    Result: how many it took. Below 0 they come earlier and earlier. So many are of ``each`` ledger, and the others of
    the next ones; 0: all are of one.
    """

    unit = "messages"

    handle: Handle
    ledger: LedgerId
    entry: EntryId
    step: Annotated[int, Meta(ge=1, le=65_536)]
    n: Bulk
    at: Time
    apart: Annotated[int, Meta(ge=-(2**40), le=2**40)] = 0
    each: Annotated[int, Meta(ge=0, le=1_000_000)] = 0


class Has(Operation, frozen=True, tag="has"):
    """Ask whether a message is available to a view (``has_message_available``); result: yes or no."""

    handle: Handle


class Get(Operation, frozen=True, tag="get"):
    """A view takes what is due, so much at most (``get_scheduled_messages``); result: the positions."""

    handle: Handle
    most: Annotated[int, Meta(ge=-(2**31), le=2**31 - 1, extra=BUDGET)]


class Count(Operation, frozen=True, tag="count"):
    """Ask for a view's number of messages (``get_number_of_delayed_messages``); result: that number."""

    unit = "messages"

    handle: Handle


class Pause(Operation, frozen=True, tag="pause"):
    """Ask whether a view's deliveries should pause (``should_pause_all_deliveries``); result: yes or no."""

    handle: Handle


class MarkDelete(Operation, frozen=True, tag="md"):
    """A view's mark-delete position moves, to entry -1 as well (``update_mark_delete_position``); no result."""

    handle: Handle
    ledger: LedgerId
    entry: Annotated[int, Meta(ge=-1, le=2**63 - 1, extra=POSITION)]


class ResetTick(Operation, frozen=True, tag="tick"):
    """A view tells the tick time of the topic (``reset_tick_time``); no result."""

    handle: Handle
    tick: Tick


class Clear(Operation, frozen=True, tag="clear"):
    """A view forgets every message (``clear``); no result."""

    handle: Handle


class Memory(Operation, frozen=True, tag="memory"):
    """Ask a view how much memory the index takes (``get_buffer_memory_usage``); result: bytes."""

    unit = "bytes"

    needs = "memory_estimate"

    handle: Handle


class Reads(Operation, frozen=True, tag="reads"):
    """From now on a dispatcher that is asked to read takes so much at once; below 0: it takes nothing. No result.

    The first that does so in a trace calls its view from another thread.
    """

    handle: Handle
    most: Annotated[int, Meta(ge=-1, le=2**31 - 1, extra=BUDGET)]


class Advance(Operation, frozen=True, tag="adv"):
    """The clock moves, timers fire on the way; result, of each firing: its time, and whom it asked to read.

    Where some of these took messages at once, these follow: a handle and positions of each.
    """

    ms: Duration


class Jump(Operation, frozen=True, tag="jump"):
    """The wall clock is set, forwards or back, and no timer fires; no result.

    A timeout that is armed waits as long as before, by a clock that never jumps. Times of timeouts are shown as the
    wall clock will show them if it is not set again.
    """

    needs = "jumps"

    by: Annotated[int, Meta(ge=-(2**41), le=2**41)]


class Stale(Operation, frozen=True, tag="stale"):
    """The timeout that was cancelled last fires all the same; result: whether anybody was asked to read."""


class Shutdown(Operation, frozen=True, tag="shutdown"):
    """Close the manager (``close``), whatever views are open; no result."""


AnyOperation = (
    Open
    | Close
    | Add
    | Fill
    | Has
    | Get
    | Count
    | Pause
    | MarkDelete
    | ResetTick
    | Clear
    | Memory
    | Reads
    | Advance
    | Jump
    | Stale
    | Shutdown
)
