"""What a walk does next: operations chosen with the model's state in view.

Times are aimed at the edges where trackers differ: the cut-off, the tick, both ends of a bucket, the armed deadline.
Positions come from a small pool, so that they meet again; now and then the pool lies on an edge of a container.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from broker_tck.model.delayed_delivery.specification import LAST, DelayedDelivery, Position
from broker_tck.properties.contracts.delayed_delivery import operations as op
from broker_tck.properties.contracts.delayed_delivery.plots import FURTHEST, Plots
from broker_tck.properties.engine.choices import Choices, one_of, weighted
from broker_tck.properties.engine.contract import Maker
from broker_tck.properties.engine.edges import Edge, Edges, clock_at_start
from broker_tck.properties.engine.sizes import Sizes
from broker_tck.properties.engine.timer import settable

TICKS = (1000, 1000, 1, 2, 3, 8, 64, 100, 500, 512, 1000, 1024, 5000, 60_000)
LONGEST_TICK = 2**40
HOUR = 3_600_000
FURTHEST_JUMP = 2**41
CLOCKS = (1_700_000_000_000, 1_700_000_000_000, 1_699_999_999_744, 1_700_000_000_001, 2**41 - 5_000)
LOOKAHEADS = (0, 1, 2, 2, 3, 5, 10, 30)
ENTRY_BASES = (0, 0, 0, 0, 0, 0, 250, 4_090, 49_995, 65_530, 65_530, 2**31 - 4, 2**32 - 12, 2**48)
LEDGER_BASES = (1, 1, 1, 1, 1, 10_000, -2, 2**31 - 2, 2**32 - 2, 2**63 - 5)
PLOTTED = 9
"""One walk in so many plays plots."""
MOST_APART = 1_100
"""So many messages at most are added at once for different times: whoever looks at all buckets has many to look at."""
POOLS = weighted([((n, size), 1) for n in (1, 2, 3, 4) for size in (3, 8, 12, 24)] + [((20, 40), 1), ((150, 300), 1)])
"""How many ledgers a walk has, and how many positions. Many are rare, as they do not meet again."""
BITS = (8, 16, 16, 20, 24, 31, 32, 32, 40, 53)
TWINS = weighted([(0, 30), *((1 << bit, 1) for bit in BITS)])
"""How far off the twins of a walk's positions are: one and the same for whoever cuts a number short, or makes one of
ledger and entry; 0: there are none."""
TWINNED = 4
"""So many positions have twins."""
STYLES = (
    ((4, 3, 3, 0, 1), 12),
    ((2, 6, 1, 1, 1), 60),
    ((1, 1, 8, 0, 1), 60),
    ((1, 1, 1, 9, 3), 150),
    ((1, 0, 1, 10, 20), 60),
    ((0, 0, 0, 8, 1), 100),
    ((0, 0, 0, 2, 9), 1000),
)
"""How likely a time is at an edge, at an edge of a bucket, anywhere, after the walk's fixed delay, or near the highest;
and one time in how many is an odd one."""


def draw_config(choices: Choices, capabilities: op.Capabilities) -> op.Config:
    """A configuration for a walk."""
    tick, strict, lookahead = one_of(choices, TICKS), bool(choices.below(2)), one_of(choices, LOOKAHEADS)
    return op.Config(tick, strict, lookahead, clock_at_start(choices, CLOCKS, tick))


def makers(model: DelayedDelivery, choices: Choices, capabilities: op.Capabilities) -> list[Maker]:
    """The kinds of operations that this subject is asked for."""
    times = Times(model, choices)
    ticks = Ticks(model, choices)
    adds = Adds(choices, times, capabilities)
    plots = Plots(model, choices, adds, ticks, capabilities) if choices.below(PLOTTED) == PLOTTED - 1 else None
    has, pause, memory, stale, clear = op.Has(), op.Pause(), op.Memory(), op.Stale(), op.Clear()
    kinds = [
        Maker("add", (20, 40, 80), adds.add),
        Maker("again", (0, 0, 0, 4, 12), adds.again),
        Maker("fill", (1, 2), plots.begin) if plots else Maker("fill", (0,) * 11 + (1,), adds.fill),
        Maker("has", (4, 12, 25), lambda: has),
        Maker("get", (6, 14, 30), lambda: op.Get(budget(model, choices))),
        Maker("pause", (0, 5, 15, 25), lambda: pause),
        Maker("tick", (0, 0, 2, 10), lambda: op.ResetTick(ticks.next())),
        Maker("adv", (10, 30, 50), lambda: op.Advance(times.step())),
        Maker("jump", (0, 0, 1, 3), lambda: op.Jump(times.jump())),
        Maker("stale", (0, 1, 4), lambda: stale),
        Maker("clear", (0, 0, 1, 2), lambda: clear),
        Maker("memory", (0, 1, 4), lambda: memory),
    ]
    return [kind._replace(make=plots.in_turn(kind.make)) for kind in kinds] if plots else kinds


class Times:
    """Deliver-at times and clock steps of one walk, in a style of its own."""

    def __init__(self, model: DelayedDelivery, choices: Choices) -> None:
        self.model = model
        self.buckets = model.buckets
        self.below = choices.below
        tick, width = self.buckets.tick, self.buckets.width
        near = [0, 1, tick - 1, tick, tick + 1, width - 1, width, width + 1, tick + width - 1, tick + width]
        self.edges = [*near, 2 * width, 2 * tick + 1, 3 * width + 1, 5 * tick, 8 * width]
        self.steps = (0, 1, 1, max(tick - 1, 0), tick, width - 1, width, tick + 1, width + 1, 2 * tick, 5 * width)
        self.spread = one_of(choices, (4, 4, 20, 200)) * width
        self.delay = tick + one_of(choices, (1, 2, width, tick, 4 * width + 1, 20 * width))
        weights, self.odd = one_of(choices, STYLES)
        self.styles = weighted(enumerate(weights))

    def at(self) -> int:
        """A deliver-at time."""
        now, below = self.model.timer.now, self.below
        if below(self.odd) == 0:
            return (-1, -1, 0, now - 1, now + 2**40, LAST, LAST - 1, LAST - self.buckets.width + 1)[below(8)]
        style = self.styles[below(len(self.styles))]
        if style == 3:
            return now + self.delay
        if style == 4:
            at = self.model.fixed_delay.highest + (-2, -1, 0, 1, 2)[below(5)] - (0, 1, 2)[below(3)] * self.buckets.tick
            return min(at, LAST) if at > self.buckets.cutoff(now) else now + self.delay
        if style == 0:
            return now + self.edges[below(len(self.edges))]
        if style == 1:
            edge = now + self.edges[below(len(self.edges))]
            return (edge & -self.buckets.width) + below(3) - 1
        return now + below(self.spread)

    def step(self) -> int:
        """How far the clock moves."""
        below, model = self.below, self.model
        kind = below(10)
        if kind < 5:
            return self.steps[below(len(self.steps))]
        if kind < 8 and model.index.held:
            armed = model.timer.armed[0] if model.timer.armed and kind < 7 else self.buckets.wake(model.index.first())
            return min(max(0, armed - model.timer.now + below(3) - 1), 2**45)
        if kind == 8:
            return below(self.spread)
        return below(3 * self.buckets.tick + 1)

    def jump(self) -> int:
        """How far the clock is set, forwards or back: by a step of time, or by an hour. It does not go below 0."""
        timer = self.model.timer
        by = min((self.step(), HOUR)[self.below(2)], FURTHEST_JUMP)
        by = -by if self.below(2) and by <= timer.now else by
        return by if settable(by, timer.now, timer.armed) else 0


class Adds:
    """Positions of one walk, and the adds that it has made of late."""

    def __init__(self, choices: Choices, times: Times, capabilities: op.Capabilities) -> None:
        self.choices = choices
        self.below = choices.below
        self.at = times.at
        largest = 2**capabilities.entry_id_bits - 1
        base = one_of(choices, [b for b in ENTRY_BASES if b + 64 < largest or b + 12 == largest + 1])
        ledgers, size = one_of(choices, POOLS)
        ledger = min(one_of(choices, LEDGER_BASES), 2**63 - ledgers)
        self.pool = [(ledger + i % ledgers, min(base + i // ledgers, largest)) for i in range(size)]
        self.pool += twins(self.pool[:TWINNED], one_of(choices, TWINS), largest)
        self.recent: deque[op.Add] = deque(
            [op.Add(*self.pool[0], times.model.timer.now + times.delay)], maxlen=one_of(choices, (1, 4, 16))
        )
        self.largest = largest
        self.sizes = Sizes(choices, numbers(capabilities)["fill.n"].thresholds)
        tick, width = times.buckets.tick, times.buckets.width
        self.aparts = (0, 0, 0, 0, 1, -1, width, width, -width, tick, -tick, -tick - 1, 7)
        """How far apart the times of many adds are."""

    def add(self) -> op.Add:
        """An add of a position out of the pool."""
        ledger, entry = self.pool[self.below(len(self.pool))]
        add = op.Add(ledger, entry, self.at())
        self.recent.append(add)
        return add

    def again(self) -> op.Add:
        """An add that was made before, as it was."""
        return self.recent[self.below(len(self.recent))]

    def position(self, room: int) -> Position:
        """A position out of the pool, behind which there are so many more; or the first one of its ledger."""
        ledger, entry = one_of(self.choices, self.pool)
        return ledger, entry if entry + room <= self.largest else 0

    def fill(self) -> op.Fill:
        """Many adds, as far as the budget goes."""
        ledger, entry = one_of(self.choices, self.pool)
        n = self.sizes.next()
        step = one_of(self.choices, (1, 1, 1, 2, 16))
        if entry + n * step > self.largest:
            entry, n = 0, min(n, self.largest // step)
        at, apart = self.at(), one_of(self.choices, self.aparts)
        few = n <= MOST_APART and 0 <= at + n * apart <= LAST
        return op.Fill(ledger, entry, step, n, at, apart if few else 0)


def twins(positions: Sequence[Position], off: int, largest: int) -> list[Position]:
    """Positions that are so far off from these, in the ledger or in the entry."""
    others = [(ledger + off if ledger + off < 2**63 else ledger - off, entry) for ledger, entry in positions]
    entries = [(ledger, entry + off) for ledger, entry in positions if entry + off <= largest]
    return [*others, *entries] if off else []


def budget(model: DelayedDelivery, choices: Choices) -> int:
    """How many messages to ask for."""
    kind = choices.below(9)
    if kind < 5:
        return (0, 1, 2, 3, 1000)[kind]
    held = model.count()
    return (held - 1, held, held + 1, choices.below(held + 1))[kind - 5]


class Ticks:
    """Tick changes of one walk: mostly between the first tick and another, so that old times count again."""

    def __init__(self, model: DelayedDelivery, choices: Choices) -> None:
        self.buckets = model.buckets
        self.choices = choices
        self.first = model.buckets.tick
        self.other = self.any()

    def any(self) -> int:
        """Any tick, or one beside the width of the buckets."""
        if self.choices.below(3) == 0:
            return one_of(self.choices, TICKS)
        width = self.buckets.width
        tick = one_of(self.choices, (width - 2, width - 1, width, width // 2, width // 4, 2 * width))
        return min(max(0, tick), LONGEST_TICK)

    def next(self) -> int:
        """The tick to change to."""
        if self.choices.below(4) == 0:
            return self.any()
        return self.other if self.buckets.tick == self.first else self.first


def drain(model: DelayedDelivery, choices: Choices, capabilities: op.Capabilities) -> Iterator[op.AnyOperation]:
    """How a walk ends: everything comes out, in pieces, and the tracker is closed; or it is closed as it is."""
    kind = choices.below(8)
    if kind == 0:
        yield op.Has()
        yield op.Clear()
    elif kind == 1:
        yield from passed_over(model, capabilities)
    else:
        yield from ebb(model, choices, capabilities)
    yield op.Close()
    if choices.below(4) == 0:
        yield op.Close()


def passed_over(model: DelayedDelivery, capabilities: op.Capabilities) -> Iterator[op.AnyOperation]:
    """The clock is set to just after what is armed, if it may be: the timeout is still to come, and nobody asks."""
    for armed in model.timer.armed[:1]:
        by = min(armed + 1 - model.timer.now, FURTHEST_JUMP)
        if capabilities.jumps and settable(by, model.timer.now, model.timer.armed):
            yield op.Jump(by)


def ebb(model: DelayedDelivery, choices: Choices, capabilities: op.Capabilities) -> Iterator[op.AnyOperation]:
    """Everything comes out, in pieces."""
    yield op.Has()
    last = max((key for key in model.index.held if key < 2**60), default=model.timer.now)
    yield op.Advance(min(max(0, last + model.buckets.width + model.buckets.tick - model.timer.now), FURTHEST))
    yield op.Has()
    for part in (3, 2, 1):
        yield op.Get(model.count() // part)
        yield op.Memory()
    yield op.Get(1)
    yield op.Has()


# ---- Numbers at their edges


def numbers(capabilities: op.Capabilities) -> dict[str, Edge]:
    """What there is to say of the numbers that this subject is asked for."""
    last = 2**capabilities.entry_id_bits - 1
    entries = Edge((4_096, 65_536), "the containers of a bitmap", high=last)
    containers = Edge((256, 4_096), "the containers of a bitmap", high=70_000)
    return {
        "add.entry": entries,
        "fill.entry": entries,
        "fill.n": containers,
        "add.at": Edge((LAST,), "DD-05: where rounding overflows", low=-1),
        "fill.at": Edge((LAST,), "DD-05: where rounding overflows", low=-1),
        "adv.ms": Edge(high=2**45, why="the clock is to have times ahead of it"),
        "config.lookahead": Edge((2, 1_000), "DD-16: how many of one delay are held"),
        "config.tick": Edge(low=1, high=2**34, why="a tick of the broker's timer: 1 ms to 2^54 ns"),
    }


def may(model: DelayedDelivery, operation: op.AnyOperation, capabilities: op.Capabilities) -> bool:
    """Whether all positions and times of an operation are there."""
    if isinstance(operation, op.Jump):
        return settable(operation.by, model.timer.now, model.timer.armed)
    if not isinstance(operation, op.Fill):
        return True
    last, at, apart = operation.entry + operation.n * operation.step, operation.at, operation.apart
    spread = apart == 0 or (operation.n <= MOST_APART and 0 <= at + operation.n * apart <= LAST)
    return last < 2**capabilities.entry_id_bits and spread


EDGES = Edges(numbers, now=lambda model: model.timer.now, may=may)
