"""What a walk does next: operations chosen with the model's state in view.

Each subscription reads the same messages, one after the other: what one view adds, others add again. Times are aimed at
the edges as for a tracker of one subscription. Mark-delete positions follow what was added, and now and then go back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from string import ascii_uppercase
from typing import cast

from msgspec.structs import replace

from broker_tck.model.delayed_delivery.specification import DelayedDelivery, FixedDelay
from broker_tck.model.topic_delivery.specification import TopicDelivery
from broker_tck.properties.contracts.delayed_delivery import generator as of_one
from broker_tck.properties.contracts.delayed_delivery import operations as one
from broker_tck.properties.contracts.topic_delivery import operations as op
from broker_tck.properties.contracts.topic_delivery.edges import MOST_LEDGERS, fits
from broker_tck.properties.engine.choices import Choices, one_of, weighted
from broker_tck.properties.engine.contract import Maker
from broker_tck.properties.engine.edges import clock_at_start
from broker_tck.properties.engine.operation import Operation

PRUNES = (0, 0, 0, 1, 5, 100, 2000)
RATIOS = (0.5, 0.5, None, 0.0, 0.34, 0.75, 1.0, -1.0, 2.0)
LOOKAHEADS = weighted([(n, 6) for n in (0, 1, 1, 2, 2, 2, 3, 3, 5, 10)] + [(n, 1) for n in (64, 100, 256)])
NAMES = weighted([(n, 18) for n in (1, 2, 2, 3, 3, 4)] + [(9, 1), (26, 1)])
"""How many subscriptions a topic has. Where they are many they all come first."""
MANY_NAMES = 5
AGAIN = weighted([(0, 60), (11, 2), (101, 1), (257, 1)])
"""How many dispatchers of one subscription come first, one after the other."""
LEAPS = weighted([(0, 11), (20, 1)])
"""One step of the clock in how many is far; 0: none is."""
LONGEST = 2**53
"""The longest step of the clock."""
EACH = (0, 0, 0, 1, 3)
"""How many messages of a ledger are added at once; 0: all are of one."""
FAR = (86_400_000, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40)


def draw_config(choices: Choices, capabilities: op.Capabilities) -> op.Config:
    """A configuration for a walk."""
    tick = one_of(choices, of_one.TICKS)
    return op.Config(
        tick,
        choices.below(2) > 0,
        one_of(choices, LOOKAHEADS),
        one_of(choices, PRUNES),
        one_of(choices, RATIOS),
        clock_at_start(choices, of_one.CLOCKS, tick),
    )


def makers(model: TopicDelivery, choices: Choices, capabilities: op.Capabilities) -> list[Maker]:
    """The kinds of operations that this subject is asked for."""
    views = Views(model, choices)
    messages = Messages(model, choices, capabilities)
    stale, shutdown = op.Stale(), op.Shutdown()
    kinds = [
        Maker("open", (1, 2, 4), views.open),
        Maker("close", (0, 0, 1, 3), views.close),
        Maker("add", (20, 40, 80), views.to(messages.add)),
        Maker("echo", (0, 10, 30, 60), views.to(messages.echo)),
        Maker("fill", (0,) * 9 + (1,), views.to(messages.fill)),
        Maker("has", (4, 12, 25), views.to(op.Has)),
        Maker("get", (6, 14, 30), views.to(views.get)),
        Maker("count", (1, 3, 6), views.to(op.Count)),
        Maker("pause", (0, 5, 15, 25), views.to(op.Pause)),
        Maker("md", (0, 3, 10, 25), views.to(messages.mark)),
        Maker("tick", (0, 0, 2, 8), views.to(messages.tick)),
        Maker("adv", (10, 30, 50), lambda: op.Advance(messages.step())),
        Maker("jump", (0, 0, 1, 3), lambda: op.Jump(messages.times.jump())),
        Maker("stale", (0, 1, 3), lambda: stale),
        Maker("clear", (0, 0, 1, 3), views.to(op.Clear)),
        Maker("memory", (0, 1, 4), views.to(op.Memory)),
        Maker("reads", (0, 0, 1, 3), views.to(views.reads)),
        Maker("shutdown", (0,) * 30 + (1,), lambda: shutdown),
    ]
    return [Maker(kind.name, kind.weights, views.first(kind.make)) for kind in kinds] if views.coming else kinds


class Views:
    """The views of one walk: mostly those that are registered, now and then one that is stale, closed or unknown."""

    def __init__(self, model: TopicDelivery, choices: Choices) -> None:
        self.model = model
        self.choices = choices
        self.registry = model.registry
        self.names = ascii_uppercase[: one_of(choices, NAMES)]
        self.coming = deque(self.names if len(self.names) > MANY_NAMES else self.names[:1] * one_of(choices, AGAIN))
        """The subscriptions whose dispatchers come before anything else."""
        self.odd = one_of(choices, (15, 50, 200))
        """One operation in so many is about any handle that there may be."""
        self.left_alone = one_of(choices, (2, 2, 30))
        """Where none is registered, one operation in so many opens another."""

    def first(self, make: Callable[[], Operation]) -> Callable[[], Operation]:
        """Makes an operation once all have come that come first."""
        return lambda: op.Open(self.coming.popleft()) if self.coming else make()

    def open(self) -> op.Open:
        """A dispatcher comes; most often that of a subscription that has none."""
        free = [name for name in self.names if name not in self.registry.registered]
        return op.Open(one_of(self.choices, free if free and self.choices.below(4) else self.names))

    def close(self) -> op.AnyOperation:
        """A view is closed, often a stale one."""
        handles = [*self.registry.views]
        stale = [handle for handle in handles if self.registry.refuses(handle)]
        chosen = one_of(self.choices, stale) if stale and self.choices.below(2) else self.handle()
        return op.Close(chosen) if chosen else self.open()

    def handle(self) -> str | None:
        """A view; None: there is none."""
        registry, choices = self.registry, self.choices
        if choices.below(self.odd) == 0:
            name = one_of(choices, self.names)
            return f"{name}{1 + choices.below(registry.opened[name] + 1)}"
        handles = [*registry.views]
        if choices.below(12) and len(handles) > len(registry.registered):
            views = [*registry.registered.values()]
            used = [handle for handle in handles if registry.views[handle] in views]
            handles = used if used or choices.below(self.left_alone) == 0 else handles
        return one_of(choices, handles) if handles else None

    def to(self, kind: Callable[[str], op.AnyOperation]) -> Callable[[], op.AnyOperation]:
        """Makes operations of one kind on views."""

        def made() -> op.AnyOperation:
            handle = self.handle()
            return kind(handle) if handle else self.open()

        return made

    def get(self, handle: str) -> op.Get:
        """A view takes what is due."""
        return op.Get(handle, self.budget())

    def reads(self, handle: str) -> op.Reads:
        """A dispatcher takes messages at once from now on, or does so no more."""
        return op.Reads(handle, one_of(self.choices, (-1, 0, 1, 2, 1000)))

    def budget(self) -> int:
        """How many messages to ask for."""
        held = self.model.index.count()
        kind = self.choices.below(8)
        return (0, 1, 1, 2, 3, 1000, held, self.choices.below(held + 1))[kind]


class Pace:
    """The model of a topic as the generator of one tracker looks at one."""

    def __init__(self, model: TopicDelivery) -> None:
        self.timer, self.buckets, self.index = model.timer, model.buckets, model.index
        self.registry = model.registry
        self.none = FixedDelay()

    @property
    def fixed_delay(self) -> FixedDelay:
        """The detection of the view that looks back furthest."""
        delays = [view.fixed_delay for view in self.registry.registered.values()]
        return max(delays, key=lambda delay: delay.highest, default=self.none)


class Messages:
    """The messages of one walk: positions and times, and how far they are acknowledged."""

    def __init__(self, model: TopicDelivery, choices: Choices, capabilities: op.Capabilities) -> None:
        self.model, self.choices = model, choices
        pace = cast(DelayedDelivery, Pace(model))
        self.times = of_one.Times(pace, choices)
        self.ticks = of_one.Ticks(pace, choices)
        bits = one.Capabilities(entry_id_bits=capabilities.entry_id_bits)
        self.adds = of_one.Adds(choices, self.times, bits)
        self.pool = sorted(self.adds.pool)
        self.sizes = self.adds.sizes
        self.leaps = one_of(choices, LEAPS)

    def add(self, handle: str) -> op.Add:
        """A view adds a message."""
        made = self.adds.add()
        return op.Add(handle, made.ledger, made.entry, made.at)

    def echo(self, handle: str) -> op.Add:
        """A view adds what was added before, by itself or by another."""
        made = self.adds.again()
        return op.Add(handle, made.ledger, made.entry, made.at)

    def fill(self, handle: str) -> op.Fill:
        """A view adds many messages."""
        made = self.adds.fill()
        n = min(made.n, (self.adds.largest - made.entry) // made.step)
        apart = one_of(self.choices, self.adds.aparts)
        middle = self.model.timer.now + self.model.buckets.tick - n // 2 * apart
        at = made.at if self.choices.below(3) else middle
        each = one_of(self.choices, EACH)
        each = each if each and n // each <= min(MOST_LEDGERS, 2**63 - 1 - made.ledger) else 0
        fill = op.Fill(handle, made.ledger, made.entry, made.step, n, at, apart, each)
        return fill if fits(fill, self.model) else replace(fill, apart=0)

    def step(self) -> int:
        """How far the clock moves."""
        if self.leaps and self.choices.below(self.leaps) == 0:
            return one_of(self.choices, FAR) + self.choices.below(3) - 1
        return self.times.step()

    def mark(self, handle: str) -> op.MarkDelete:
        """A view's mark-delete position moves: past what it sees, anywhere, a step back, where it was, to the end."""
        kind, position = self.choices.below(8), one_of(self.choices, self.pool)
        view = self.model.registry.views.get(handle)
        if view is not None and kind < 4:
            seen = sorted({position for _, position in view.seen()})
            position = seen[self.choices.below(min(len(seen), 3))] if seen else position
        if kind == 5 and view is not None and view.mark:
            position = view.mark[0], view.mark[1] - 1
        if kind == 6:
            position = (view and view.mark) or position
        if kind == 7:
            largest = self.adds.largest
            beyond = min(largest + 1, 2**63 - 1)
            position = (position[0], one_of(self.choices, (-1, position[1] - 1, largest, beyond)))
        return op.MarkDelete(handle, position[0], max(position[1], -1))

    def tick(self, handle: str) -> op.ResetTick:
        """A view tells a tick."""
        return op.ResetTick(handle, self.ticks.next())


def drain(model: TopicDelivery, choices: Choices, capabilities: op.Capabilities) -> Iterator[op.AnyOperation]:
    """How a walk ends: everything comes out, is acknowledged, and the views leave; or all ends at once."""
    handles = [view.handle for view in model.registry.registered.values()]
    yield from map(op.Has, handles)
    if choices.below(8) == 0:
        yield op.Shutdown()
        yield from map(op.Has, handles)
        yield op.Open("A")
        return
    yield from taken(model, handles)
    if choices.below(2):
        yield from acknowledged(model, handles)
    for handle in handles:
        yield op.Count(handle)
        yield op.Close(handle)
    for handle in handles[:1]:
        yield op.Close(handle)
        yield op.Has(handle)
        yield op.Count(handle)


def ebb(model: TopicDelivery, choices: Choices, capabilities: op.Capabilities) -> Iterator[op.AnyOperation]:
    """Everything comes out; now and then it is acknowledged as well, and the cursors are set back."""
    handles = [view.handle for view in model.registry.registered.values()]
    yield from taken(model, handles)
    if choices.below(2):
        first = min((ledger for bucket in model.index.held.values() for ledger, _ in bucket), default=0)
        yield from acknowledged(model, handles)
        for handle in handles:
            yield op.MarkDelete(handle, first, -1)


def taken(model: TopicDelivery, handles: Sequence[str]) -> Iterator[op.AnyOperation]:
    """All times pass, and each view takes what it sees, in pieces."""
    last = max((key for key in model.index.held if key < 2**60), default=model.timer.now)
    ahead = last + model.buckets.width + 2 * model.buckets.tick - model.timer.now
    yield op.Advance(min(max(0, ahead), LONGEST))
    for handle in handles:
        yield op.Has(handle)
        yield op.Get(handle, model.index.count() // 2)
        yield op.Get(handle, model.index.count())
        if len(handles) <= MANY_NAMES:
            yield op.Memory(handle)


def acknowledged(model: TopicDelivery, handles: Sequence[str]) -> Iterator[op.AnyOperation]:
    """Each view has passed all that is held."""
    furthest = max((position for bucket in model.index.held.values() for position in bucket), default=(1, 0))
    for handle in handles:
        yield op.MarkDelete(handle, *furthest)
        yield op.Get(handle, 1)
