"""What a walk does next: operations chosen with the model's state in view.

Messages come as a dispatcher reads them: ledger by ledger, and after a crash once more, from the mark-delete position
on. Times are aimed at where segments end. Calls end in any order, or fail; trackers crash at any of their steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from broker_tck.model.bucket_delivery.specification import BucketDelivery
from broker_tck.model.bucket_delivery.tracker import Config as Configured
from broker_tck.properties.contracts.bucket_delivery.messages import FAR, LARGE, Messages, Times
from broker_tck.properties.contracts.bucket_delivery.operations import (
    AT_ONCE,
    WAITS,
    Advance,
    AnyOperation,
    Capabilities,
    Clear,
    Closing,
    Complete,
    Config,
    Conflict,
    Crash,
    Fail,
    Get,
    Has,
    Jump,
    Lost,
    Pause,
    Reopen,
    ResetTick,
    Snapshot,
    Snapshots,
    Spoil,
    Stale,
    Storage,
    Stored,
    Vanish,
)
from broker_tck.properties.contracts.bucket_delivery.plots import Plots
from broker_tck.properties.engine.choices import Choices, one_of, weighted
from broker_tck.properties.engine.contract import Maker
from broker_tck.properties.engine.edges import clock_at_start
from broker_tck.properties.engine.operation import Operation

LEASTS = weighted([(n, 6) for n in (0, 1, 1, 2, 2, 2, 3, 3, 5)] + [(n, 1) for n in (17, 64, 100)])
STEPS = weighted([(n, 6) for n in (0, 1, 10, 10, 10, 50, 1000)] + [(n, 1) for n in (300_000, 2**31)])
INDEX_LIMITS = weighted([(n, 6) for n in (-1, -1, -1, 0, 1, 2, 2, 3, 5)] + [(n, 1) for n in (40, 256)])
BUCKET_LIMITS = weighted([(n, 6) for n in (-1, -1, 0, 1, 1, 2, 2, 3, 4, 4, 5)] + [(n, 1) for n in (20, 128)])
NO_LIMIT = (-1, 0)
TICKS = (1, 1, 1, 10, 100, 1000)
CLOCKS = (1_000_000, 1_000_000, 1_700_000_000_000, 1_700_000_000_000, 2**41 - 5_000, 1, 2**31 - 500, 2**32 - 500)
FLOODS, FLOODS_UNMERGED, FLOODS_LARGE = (0,) * 5 + (1,), (0, 0, 0, 1), (1, 2)
"""Many messages cost less where they are not merged, and become many buckets only there."""
MANY = 64
"""Where more than that is held, a walk ends in larger pieces, and mostly with a storage that answers at once."""
LONGEST = 2**53
"""The longest step of the clock."""
MOST_FAILED = 8
"""After so many recoveries that have failed the keys are lost, so that one does not."""
ASKED = 3
"""In one of so many cases it is asked whether a closing has ended."""
IN_VAIN = 8
"""So many reads that change nothing end a walk: some releases ask for a snapshot that is gone for ever."""


def draw_config(choices: Choices, capabilities: Capabilities) -> Config:
    """A configuration for a walk."""
    return Config(
        one_of(choices, LEASTS),
        one_of(choices, STEPS),
        one_of(choices, INDEX_LIMITS),
        one_of(choices, BUCKET_LIMITS if capabilities.maintenance else NO_LIMIT),
        tick := one_of(choices, TICKS),
        choices.below(3) > 0,
        clock_at_start(choices, CLOCKS, tick),
        "down" if choices.below(3) == 0 else "up",
    )


def makers(model: BucketDelivery, choices: Choices, capabilities: Capabilities) -> list[Maker]:
    """The kinds of operations that this subject is asked for."""
    times = Times(model, choices)
    messages = Messages(model, choices, times)
    calls = Calls(model, choices, messages, capabilities.tells_when_closed)
    plots = Plots(model, choices, messages, capabilities)
    has, pause, stale, clear, snapshots, lost = Has(), Pause(), Stale(), Clear(), Snapshots(), Lost()
    modes = (WAITS, WAITS, AT_ONCE) if capabilities.calls_under_way else (AT_ONCE,)
    kinds = [
        Maker("add", (30, 50, 80), messages.add),
        Maker("plot", (0, 1, 2), plots.begin),
        Maker("fill", floods(model.config), plots.flood),
        Maker("again", (0, 2, 8), messages.again),
        Maker("contains", (1, 3), messages.contains),
        Maker("has", (2, 4, 10), lambda: has),
        Maker("get", (8, 15, 25), lambda: Get(one_of(choices, (0, 1, 1, 2, 3, 100, 100, 100)))),
        Maker("adv", (5, 12, 20), lambda: Advance(times.step())),
        Maker("jump", (0, 0, 0, 1, 2), lambda: Jump(times.jump())),
        Maker("complete", (10, 30, 60), calls.complete),
        Maker("fail", (0, 1, 3, 16), lambda: Fail(calls.to_fail())),
        Maker("conflict", (0, 0, 1, 4), lambda: Conflict(calls.to_conflict())),
        Maker("stored", (0, 0, 1, 4), lambda: Stored(calls.place())),
        Maker("clear", (0, 0, 1, 3), lambda: messages.cleared(clear)),
        Maker("mark", (0, 0, 2, 4), messages.mark),
        Maker("crash", (0, 1, 2, 4), calls.crash),
        Maker("reopen", (0, 0, 1, 2), calls.reopen),
        Maker("storage", (0, 0, 0, 2), lambda: Storage(one_of(choices, modes))),
        Maker("snapshot", (1, 2), lambda: Snapshot(calls.number())),
        Maker("snapshots", (0, 1), lambda: snapshots),
        Maker("vanish", (0, 0, 0, 1), lambda: Vanish(calls.number())),
        Maker("spoil", (0, 0, 0, 1), lambda: Spoil(calls.number())),
        Maker("lost", (0, 0, 0, 0, 1), lambda: lost),
        Maker("tick", (0, 0, 0, 2), lambda: ResetTick(one_of(choices, (0, *TICKS)))),
        Maker("stale", (0, 0, 1), lambda: stale),
        Maker("pause", (0, 0, 1), lambda: pause),
    ]
    return [Maker(kind.name, kind.weights, in_turn(kind.make, model, plots, calls, capabilities)) for kind in kinds]


def floods(config: Configured) -> tuple[int, ...]:
    """How often many messages come at once."""
    if config.min_index_count >= LARGE:
        return FLOODS_LARGE
    return FLOODS if config.max_buckets > 0 else FLOODS_UNMERGED


def in_turn(
    make: Callable[[], Operation], model: BucketDelivery, plots: Plots, calls: Calls, capabilities: Capabilities
) -> Callable[[], Operation]:
    """Makes an operation, unless another one has to come before.

    That is the next one of a plot; where a recovery has failed, another one; and for a subject that cannot wait for
    calls, the one from which on they end as they are made.
    """

    def made() -> Operation:
        return calls.another() if model.tracker is None else plots.next() or make()

    if capabilities.calls_under_way:
        return made
    return lambda: made() if model.durable.answers_at_once else Storage(AT_ONCE)


class Calls:
    """Which calls end, and what comes after them."""

    def __init__(self, model: BucketDelivery, choices: Choices, messages: Messages, tells_when_closed: bool) -> None:
        self.model = model
        self.messages = messages
        self.choices = choices
        self.tells_when_closed = tells_when_closed
        self.below = choices.below
        self.failing = ""
        self.failed = 0
        """How many recoveries have failed."""

    def place(self) -> int:
        """Where a call stands that is to end: the oldest one, the newest, or any."""
        n = len(self.model.durable.calls.waiting)
        kind = self.below(4)
        return 0 if kind < 2 or n < 2 else n - 1 if kind == 2 else self.below(n)

    def number(self) -> int:
        """The number of a snapshot, one of the last mostly."""
        return max(1, self.model.durable.made - self.below(4))

    def to_fail(self) -> int:
        """A call that is to fail: mostly the one that failed last, if it was made again."""
        waiting = [call.label for call in self.model.durable.calls.waiting]
        place = waiting.index(self.failing) if self.failing in waiting and self.below(4) else self.place()
        self.failing = waiting[place] if waiting else ""
        return place

    def to_conflict(self) -> int:
        """A call that is to meet a bad version: a key update, if one waits."""
        waiting = self.model.durable.calls.waiting
        return next((i for i, call in enumerate(waiting) if call.updates_key), 0)

    def crash(self) -> Crash:
        """Crash, and read messages again."""
        self.messages.rewind()
        return self.recovery()

    def reopen(self) -> Reopen:
        """Close, and have another tracker recover, and read messages again."""
        self.messages.rewind()
        return Reopen()

    def recovery(self) -> Crash:
        """Another tracker recovers; now and then its reads fail."""
        return Crash(one_of(self.choices, (0, 0, 0, 0, 0, 1, 3, 4)), self.below(6))

    def another(self) -> Operation:
        """Recover once more. Where that is in vain, as a snapshot is gone for good, the keys have to go as well."""
        self.failed += 1
        return Lost() if self.failed % MOST_FAILED == 0 else self.recovery()

    def complete(self) -> Complete | Closing:
        """A call ends; while trackers are being closed, they are asked for now and then."""
        if self.tells_when_closed and self.model.closed and self.below(ASKED) == 0:
            return Closing()
        return Complete(self.place())


def drain(model: BucketDelivery, choices: Choices, capabilities: Capabilities) -> Iterator[AnyOperation]:
    """How a walk ends: all calls end, all times pass, everything comes out."""
    yield from settled(model)
    if choices.below(8) == 0:
        yield Clear()
        yield from settled(model)
    yield Advance(max(FAR, until_last(model)))
    yield from emptied(model, choices)
    yield Snapshots()


def ebb(model: BucketDelivery, choices: Choices, capabilities: Capabilities) -> Iterator[AnyOperation]:
    """Everything comes out, and what it was sealed in is deleted; calls go on to be ended as they were."""
    waits = not model.durable.answers_at_once
    yield from settled(model)
    yield Advance(until_last(model))
    yield from emptied(model, choices)
    if waits and model.durable.answers_at_once:
        yield Storage(WAITS)


def until_last(model: BucketDelivery) -> int:
    """How far ahead the last time is at which something is to be delivered, as far as that goes."""
    tracker = model.tracker
    if tracker is None:
        return 0
    ends = [about.last_time for bucket in tracker.placed.buckets() for about in bucket.about[-1:]]
    queues = [index[0] for queue in (tracker.shared, tracker.mutable.queue) for index in queue]
    return min(max([0, *(at - model.now for at in ends + queues)]), LONGEST)


def emptied(model: BucketDelivery, choices: Choices) -> Iterator[AnyOperation]:
    """Hand out all that is due, in pieces; of much in larger ones."""
    yield Has()
    held = model.tracker.held.count() if model.tracker else 0
    if held > MANY and choices.below(4):
        yield Storage(AT_ONCE)
    most = max(2, held // 8)
    left: object = None
    in_vain = 0
    while (tracker := model.tracker) is not None and (tracker.shared or tracker.mutable.queue) and in_vain < IN_VAIN:
        loaded = [piece.bucket.current for piece in tracker.placed.pieces]
        left, before = (len(tracker.shared), len(tracker.mutable.queue), loaded), left
        in_vain = in_vain + 1 if left == before else 0
        yield Get(most)
        yield from settled(model)
        yield Advance(0)
    yield Get(1)
    yield Has()


def settled(model: BucketDelivery) -> Iterator[AnyOperation]:
    """Have a tracker, and end all calls, and those that follow them."""
    if model.tracker is None:
        yield Crash()
    while model.durable.calls.waiting:
        yield Complete(0)
