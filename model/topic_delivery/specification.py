"""Topic delivery: one index of delayed messages for all subscriptions of a topic (profile ``ideal``).

Read it from top to bottom. A method under ``@rule`` is a clause: its docstring is the rule, its body says the same in
code. The methods named as operations are flows. A view answers as a tracker of delayed delivery that holds what the
view sees, so buckets, index, fixed delay and timer are those of delayed delivery. Times are absolute milliseconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import Any, ClassVar, Protocol, TypeVar

from broker_tck.model.delayed_delivery.specification import (
    Bucket,
    Buckets,
    FixedDelay,
    Index,
    MemoryEstimate,
    Placed,
    Position,
)
from broker_tck.model.reference import UNDEFINED, Allowed, Fault, Reference, Undefined
from broker_tck.model.rules import Part, Rule, informative, invariant, rule
from broker_tck.model.topic_delivery.timer import TopicTimer

MANAGER = "InMemoryTopicDelayedDeliveryTrackerManager"
SAME = "PIP-448: the semantics for users stay identical"
T = TypeVar("T")
CLOSED = "IllegalStateException"
MOST_FIRINGS = 1_000
"""Maximum number of firings in one step of the clock; with more, the clock would never move on."""


class Config(Protocol):
    """How a topic starts."""

    tick: int
    strict: bool | int
    lookahead: int
    prune_ms: int
    ratio: float | None
    clock: int


class SubscriptionView(Part):
    """What one subscription sees of the shared index: the tracker that one of its dispatchers was given."""

    FixedDelay = FixedDelay

    def __init__(
        self, name: str, handle: str, mark: Position | None, index: Index, buckets: Buckets, timer: TopicTimer
    ) -> None:
        self.index, self.buckets, self.timer = index, buckets, timer
        """Those of the topic."""
        self.name = name
        self.handle = handle
        """Names the view and its dispatcher, of which a subscription may have had several."""
        self.mark = mark
        """The mark-delete position; None: nothing is known to be acknowledged."""
        self.passed: Position | None = None
        """The furthest mark-delete position that it had before this one."""
        self.handed: set[Placed] = set()
        self.cleared: set[Placed] = set()
        self.again: set[Placed] = set()
        """What it has added since it was done with it."""
        self.fixed_delay = self.FixedDelay()

    # ---- What it sees

    def sees(self, placed: Placed) -> bool:
        """Whether it may still ask for a copy."""
        position = placed[1]
        if self.acknowledged(position):
            return False
        done = (
            (self.handed and self.was_handed(placed))
            or (self.cleared and self.was_cleared(placed))
            or (self.passed and self.was_passed(position))
        )
        return not done or placed in self.again

    @rule("TD-08", source=f"PIP-448, Security Considerations; {MANAGER}")
    def acknowledged(self, position: Position) -> bool:
        """A view sees no copy at or before its mark-delete position, in any bucket; without one it sees all."""
        return self.mark is not None and position <= self.mark

    @rule("TD-09", source=f"{SAME}; T-01")
    def was_handed(self, placed: Placed) -> bool:
        """A view does not see a copy that was handed to it."""
        return placed in self.handed

    @rule("TD-13", source=f"{SAME}; T-17")
    def was_cleared(self, placed: Placed) -> bool:
        """A view does not see a copy that it has cleared."""
        return placed in self.cleared

    @rule("TD-15", source=f"PIP-448, updateMarkDeletePosition; {MANAGER}")
    def was_passed(self, position: Position) -> bool:
        """If its mark-delete position goes back, a view is done with what it had passed, even with copies to come."""
        return self.passed is not None and position <= self.passed

    @rule("TD-09")
    def asks_again(self, placed: Placed) -> bool:
        """A view that is done with a copy sees it again if it adds it again."""
        done = placed in self.handed or placed in self.cleared or self.was_passed(placed[1])
        return done and not self.acknowledged(placed[1])

    def seen(self) -> list[Placed]:
        """The copies that it sees."""
        held = self.index.held.items()
        return [placed for key, bucket in held for position in bucket if self.sees(placed := (key, position))]

    def sees_due(self) -> bool:
        """Whether a bucket that is due holds a copy that it sees."""
        held, now = self.index.held.items(), self.timer.reading()
        due = ((key, bucket) for key, bucket in held if self.buckets.due(key, now))
        return any(self.sees((key, position)) for key, bucket in due for position in bucket)

    # ---- What it does

    def adds(self, placed: Placed) -> None:
        """It adds a copy, held before or not."""
        if self.asks_again(placed):
            self.handed.discard(placed)
            self.cleared.discard(placed)
            self.again.add(placed)

    @rule("TD-15")
    def move(self, position: Position) -> None:
        """A view takes a mark-delete position over as it is, even if it goes back."""
        if self.mark is not None:
            self.passed = max(self.mark, self.passed or self.mark)
        self.mark = position
        self.again = {placed for placed in self.again if placed[1] > position}

    def takes(self, copies: Iterable[Placed]) -> None:
        """Copies are handed to it."""
        self.handed.update(copies)
        self.again.difference_update(copies)

    def forgets(self, copies: Iterable[Placed]) -> None:
        """Copies are cleared by it."""
        self.cleared.update(copies)
        self.again.difference_update(copies)


class Registry(Part):
    """Views by their handles, and the one that is registered for each subscription, by its name."""

    def __init__(self) -> None:
        self.views: dict[str, SubscriptionView] = {}
        """Those that are not closed. Handles are never used again."""
        self.closed: set[str] = set()
        self.registered: dict[str, SubscriptionView] = {}
        self.opened: Counter[str] = Counter()
        self.marks: dict[str, Position] = {}
        """The mark-delete position of each subscription's cursor, from its dispatcher's last update."""
        self.reads: dict[str, int] = {}
        """Number of messages that each dispatcher takes at once when it is asked to read; below 0: none."""
        self.ended = False

    # ---- Views come

    def open(self, name: str, made: Callable[..., SubscriptionView]) -> str:
        """A dispatcher of a subscription asks for a tracker; answers with its handle."""
        if not self.may_open():
            raise Fault(CLOSED)
        self.opened[name] += 1
        handle = f"{name}{self.opened[name]}"
        view = self.taken_over(name) or made(name, handle, self.mark_of(name))
        self.views[handle] = self.registered[name] = view
        return handle

    @rule("TD-26", source=f"{MANAGER}, createOrGetTracker; T-11", when=lambda r, name: name in r.registered)
    def taken_over(self, name: str) -> SubscriptionView | None:
        """A subscription that is opened again gets a view and a dispatcher of its own."""
        return None

    @rule("TD-32", source="PIP-448, Security Considerations; T-16")
    def mark_of(self, name: str) -> Position | None:
        """A view begins at its subscription's mark-delete position and sees all copies after it, whoever added them."""
        return self.marks.get(name)

    # ---- Views are used

    def view(self, handle: str) -> SubscriptionView | None:
        """The view of a handle; None if the handle is unknown. Fault if the view refuses calls."""
        if self.refuses(handle):
            raise Fault(CLOSED)
        return self.views.get(handle)

    def refuses(self, handle: str) -> bool:
        """Whether a call to a view is an error."""
        return self.is_closed(handle) or (handle in self.views and self.is_stale(self.views[handle]))

    @rule("TD-16", source="InMemoryTopicDelayedDeliveryTracker")
    def is_closed(self, handle: str) -> bool:
        """A closed view refuses every call but another close, which does nothing."""
        return handle in self.closed

    @rule("TD-26")
    def is_stale(self, view: SubscriptionView) -> bool:
        """The earlier view is stale from then on, and refuses every call but its close."""
        return self.registered.get(view.name) is not view

    # ---- Views go

    def close(self, handle: str) -> SubscriptionView | None:
        """A view is closed; answers with it if its registration ends with that."""
        view = self.views.pop(handle, None)
        if view is None:
            return None
        self.closed.add(handle)
        return self.registered.pop(view.name, None) if self.is_registered(view) else None

    @rule("TD-27", source=f"{MANAGER}, unregister; T-12, T-13, T-14")
    def is_registered(self, view: SubscriptionView) -> bool:
        """A close ends only its own view's registration: if a stale view is closed, the newer one stays registered."""
        return self.registered.get(view.name) is view

    @rule("TD-31", source=f"{MANAGER}, close; T-15", when=lambda r: r.registered)
    def shutdown(self) -> None:
        """A shutdown closes every view and empties the index, and leaves nothing armed."""
        self.registered = {}
        self.ended = True

    @rule("TD-31")
    def may_open(self) -> bool:
        """Nothing is opened after a shutdown."""
        return not self.ended

    def in_order(self) -> list[tuple[str, SubscriptionView]]:
        """The views that are not closed, each with its handle, in the order of these: by name, then by number."""
        return sorted(self.views.items(), key=lambda each: (each[1].name, len(each[0]), each[0]))


class Pruner(Part):
    """Removes a copy from the index as soon as no view can still ask for it."""

    def __init__(self, config: object) -> None:
        """Start as configured. This pruner has no settings."""

    @rule("TD-20", source="PIP-448, High Level Design")
    def may_go(self, placed: Placed, views: Collection[SubscriptionView]) -> bool:
        """A copy leaves the index once no registered view sees it, and not before."""
        return not any(view.sees(placed) for view in views)

    def pruned(self, released: Iterable[Placed], views: Collection[SubscriptionView]) -> list[Placed]:
        """Of some copies with which a view is done, those that leave the index."""
        return [placed for placed in released if self.may_go(placed, views)]


ONE_TOPIC = "a subject is the manager of one topic"
WITHOUT_CLAUSE: tuple[Rule, ...] = (
    informative(
        "TD-01",
        "There is a factory for a broker, a manager for a topic, and a light tracker, the view, for a dispatcher.",
        source="PIP-448, High Level Design",
        why=f"how a subject is built inside is its own affair; {ONE_TOPIC}",
    ),
    informative(
        "TD-02",
        "The manager holds the index, the registered views, one timer, and the state of the pruner.",
        source=MANAGER,
        why="state is seen in what the views answer; the rules about it say when",
    ),
    informative(
        "TD-03",
        "A view has a mark-delete position, a dispatcher, and a name.",
        source=f"{MANAGER}.SubContext",
        why="state is seen in what the view answers; TD-08, TD-15 and TD-26 say how",
    ),
    invariant(
        "TD-04",
        "With an unchanged tick, no view is handed a message early: in strict mode not at all, else by at most a tick.",
        source=f"{SAME}; T-06, T-07",
    ),
    informative(
        "TD-05",
        "The cut-off of a view is now in strict mode, else now + tick.",
        source=MANAGER,
        why="the views of a topic share the tick; DD-04 has it",
    ),
    informative(
        "TD-07",
        "A position may be in two buckets; each copy counts, and takes one unit of a get's budget.",
        source=MANAGER,
        why="DD-12 and DD-20 have it; as a change of the tick moves no bucket, it takes two times for one message",
    ),
    invariant(
        "TD-43",
        "No copy waits for ever. A dispatcher asks when its view is opened, after an add, and when a firing asks it. "
        "It gets again while `has` says yes. In all other cases the timer must fire, but not twice in a row in vain.",
        source="follows from TD-17 to TD-19; PR 26236 and issue 21554 tell of a dispatcher that did not get again",
    ),
    informative(
        "TD-29",
        "A factory keeps the managers of its topics by name; those of different topics know nothing of each other.",
        source="InMemoryTopicDelayedDeliveryTrackerFactory",
        why=ONE_TOPIC,
    ),
    informative(
        "TD-30",
        "A manager without views stays in the factory's cache for the idle time after the last one has left.",
        source="PIP-448, delayedDeliveryTopicManagerIdleMillis",
        why=f"{ONE_TOPIC}; TD-28 says what the last one frees",
    ),
    invariant(
        "TD-33",
        "The index never has more copies than accepted pairs of a position and a time, however many views there are.",
        source="PIP-448, Goals",
    ),
    invariant("TD-34", "One view without mark-delete positions gives every answer of delayed delivery.", source=SAME),
    invariant(
        "TD-35",
        "If messages are held and none is available, a timeout is armed. "
        "If one becomes available to a view, its dispatcher is asked to read, or a timeout is armed.",
        source="follows from TD-14, TD-17 and TD-18; T-03, T-04",
    ),
    invariant(
        "TD-36",
        "The index holds no position that every view has passed.",
        source="follows from TD-15 and TD-20; PIP-448, High Level Design",
    ),
    invariant(
        "TD-37",
        "A view counts each copy that it added, until it is handed that copy, acknowledges it or clears it.",
        source="PIP-448, High Level Design; T-12, T-13",
    ),
    invariant(
        "TD-40",
        "After an accepted add no timeout waits past the message's bucket, or a tick from now, by more than the clock "
        "was set forwards.",
        source="follows from TD-17, TD-38, DD-22, DD-37 and DD-38; no report upstream is known",
        needs="jumps",
    ),
    invariant(
        "TD-41",
        "A manager that holds no copy and has no open view keeps no id and no dispatcher.",
        source="follows from TD-28 and TD-31",
        needs="shows_kept",
    ),
)
"""Invariants, and what cannot be checked at this interface."""


class TopicDelivery(Reference):
    """Copies in buckets, held once whatever the number of views; the views; and one timer."""

    PROFILE = "ideal"
    WITHOUT_CLAUSE: ClassVar[tuple[Rule, ...]] = WITHOUT_CLAUSE
    Timer = TopicTimer
    Buckets = Buckets
    Index = Index
    MemoryEstimate = MemoryEstimate
    Registry = Registry
    View = SubscriptionView
    Pruner = Pruner

    def __init__(self, config: Config) -> None:
        self.lookahead = config.lookahead
        self.timer = self.Timer(config.clock)
        self.buckets = self.Buckets(config.tick, bool(config.strict))
        self.index = self.Index()
        self.memory_estimate = self.MemoryEstimate()
        self.registry = self.Registry()
        self.pruner = self.Pruner(config)

    # ---- Views come and go

    def open(self, name: str) -> str:
        """A dispatcher of a subscription asks for a tracker; answers with the handle of both."""
        made = partial(self.View, index=self.index, buckets=self.buckets, timer=self.timer)
        return self.registry.open(name, made)

    def close(self, handle: str) -> None:
        """A view is closed."""
        left = self.registry.close(handle)
        if left:
            self.left(left)

    @rule("TD-28", source=f"{MANAGER}, unregister", when=lambda m, view: m.index.held)
    def left(self, view: SubscriptionView) -> None:
        """When a view goes, the copies that only it saw go; with the last view all go, and the timer is disarmed."""
        self.settle(view.seen())

    def shutdown(self) -> None:
        """The manager ends, and all its views with it."""
        self.registry.shutdown()
        if not self.registry.registered:
            self.forget()

    def asked(self, handle: str, answer: Callable[[SubscriptionView], T]) -> T | None:
        """What the view of a handle answers; None if the handle is unknown. Fault if the view refuses calls."""
        view = self.registry.view(handle)
        return None if view is None else answer(view)

    # ---- What is held

    def settle(self, copies: Iterable[Placed]) -> None:
        """A view is done with some copies; the timer is updated."""
        self.release(copies)
        self.update_timer()

    def release(self, copies: Iterable[Placed]) -> None:
        """A view is done with some copies: those leave the index that nobody else sees."""
        gone = self.pruner.pruned(copies, self.registry.registered.values())
        self.index.drop(gone)
        self.memory_estimate.shrank |= bool(gone)

    def forget(self) -> None:
        """Let go of everything."""
        self.memory_estimate.shrank = True
        self.index.clear()
        self.update_timer()

    # ---- Adding

    def add(self, handle: str, ledger: int, entry: int, at: int) -> bool | None:
        """A view adds a message."""
        view = self.registry.view(handle)
        if view is None:
            return None
        if self.refuses(view, at):
            view.fixed_delay.refused()
            return False
        position, key = self.index.stored(ledger, entry), self.buckets.key(at)
        self.memory_estimate.grew = True
        self.came(view, (key, position), self.index.insert(position, key))
        self.update_timer()
        view.fixed_delay.accepted(at, self.buckets.tick)
        return True

    @rule("TD-06", source=MANAGER)
    def refuses(self, view: SubscriptionView, at: int) -> bool:
        """A time that is negative or not after the cut-off is refused; that ends the fixed delay of this view alone."""
        return at < 0 or at <= view.buckets.cutoff(self.timer.reading())

    def came(self, view: SubscriptionView, placed: Placed, new: bool) -> None:
        """A view has added a copy, held before unless it is ``new``. It leaves the index at once if nobody sees it."""
        view.adds(placed)
        self.release([placed])

    def fill(
        self, handle: str, ledger: int, entry: int, step: int, n: int, at: int, apart: int, each: int
    ) -> int | None:
        """A view adds n messages, ``each`` of a ledger, ``apart`` in time; answers how many were accepted."""
        if self.registry.view(handle) is None:
            return None
        each = each or n
        messages = [(ledger + i // each, entry + i % each * step, at + i * apart) for i in range(n)]
        return sum([bool(self.add(handle, *message)) for message in messages])

    # ---- Handing out

    def has(self, handle: str) -> bool | None:
        """Whether a message is available to a view."""
        available = self.asked(handle, self.is_available)
        if available is False:
            self.answered_no()
        return available

    @rule("TD-10", source=f"{SAME}; T-09")
    def is_available(self, view: SubscriptionView) -> bool:
        """A message is available to a view while a bucket that is due holds a copy that the view sees."""
        return view.sees_due()

    @rule(
        "TD-39",
        source="follows from TD-35; no report upstream is known",
        needs="jumps",
        when=lambda m: m.timer.jumped and m.index.held and not m.timer.armed,
    )
    def answered_no(self) -> None:
        """If `has` answers no, and messages are held but no timeout is armed, the timer is updated."""
        if self.index.held and not self.timer.armed:
            self.update_timer()

    def get(self, handle: str, most: int) -> list[Position] | None:
        """Hand out to a view what is due."""
        return self.asked(handle, lambda view: self.hand_out(view, most))

    def hand_out(self, view: SubscriptionView, most: int) -> list[Position]:
        """Hand out what is due, of what a view sees."""
        seen, now = view.seen(), self.timer.reading()
        shown = index_of(self.Index, seen)
        taken = shown.taken(sorted(key for key in shown.held if view.buckets.due(key, now)), most)
        done = shown.removed(taken)
        view.takes(done)
        view.fixed_delay.left(bool(taken), len(done) == len(seen))
        self.settle(done)
        return shown.handed_out(taken)

    # ---- Counting and pausing

    def count(self, handle: str) -> int | None:
        """The number of delayed messages of a view."""
        return self.asked(handle, self.count_of)

    @rule("TD-11", source="PIP-448: no change of metrics")
    def count_of(self, view: SubscriptionView) -> int:
        """The number of delayed messages of a view is the number of copies that it sees."""
        return len(view.seen())

    def pause(self, handle: str) -> bool | None:
        """Whether the deliveries of a view should pause."""
        return self.asked(handle, self.pauses)

    @rule("TD-12", source=f"{SAME}; T-08, T-09")
    def pauses(self, view: SubscriptionView) -> bool:
        """A view does not pause while a message is available to it."""
        return self.wants_pause(view) and not self.is_available(view)

    @rule("TD-12")
    def wants_pause(self, view: SubscriptionView) -> bool:
        """A view pauses if `lookahead` is not 0, its own delay is fixed, and it sees at least `lookahead` messages."""
        return self.lookahead > 0 and view.fixed_delay.fixed and self.count_of(view) >= self.lookahead

    # ---- Mark-delete positions, clear, ticks

    def mark_delete(self, handle: str, ledger: int, entry: int) -> None:
        """The mark-delete position of a view moves."""
        view = self.registry.view(handle)
        if view is None:
            return
        before = view.seen()
        self.registry.marks[view.name] = ledger, entry
        view.move((ledger, entry))
        self.settle([placed for placed in before if not view.sees(placed)])

    @rule("DD-16", when=lambda m, handle: handle in m.registry.views)
    def clear(self, handle: str) -> None:
        """A clear does not start the detection anew."""
        self.asked(handle, self.clear_for)

    @rule("TD-13", when=lambda m, view: view.seen())
    def clear_for(self, view: SubscriptionView) -> None:
        """A clear makes one view forget its copies; the copies that others see stay, and the timer is left alone."""
        seen = view.seen()
        left = index_of(self.Index, seen)
        left.clear()
        done = [(key, position) for key, position in seen if position not in left.held.get(key, ())]
        view.forgets(done)
        self.release(done)

    @rule("TD-14", source=f"{MANAGER}, resetTickTime", when=lambda m, handle, tick: tick != m.buckets.tick)
    def reset_tick(self, handle: str, tick: int) -> None:
        """A new tick from any view is the whole topic's tick, and updates the timer."""
        if self.registry.view(handle) is not None and tick != self.buckets.tick:
            self.retick(tick)
            self.update_timer()

    def retick(self, tick: int) -> None:
        """Take over a new tick."""
        self.buckets.reset_tick(tick)
        self.timer.tell_anew()

    # ---- The timer

    @rule("TD-17", source=f"{MANAGER}; T-03, T-04, T-05")
    def update_timer(self) -> None:
        """Accepted adds, gets, mark-delete positions, closes, new ticks and firings update the timer, nothing else."""
        self.timer.in_each_way(self.aim_timer)

    def aim_timer(self) -> None:
        """Look at the clock, and aim the timer."""
        self.timer.look()
        self.timer.update(self.aim() if self.index.held else None, self.buckets.tick)

    @rule("TD-17")
    def aim(self) -> int:
        """The timer is armed for the first bucket whose moment no firing met under this tick; 1 ms ahead if late."""
        moments = self.moments()
        first = min([moment for moment in moments if not self.was_told(moment)] or moments)
        told_or_armed = self.was_told(first) or first == self.timer.target
        return first if told_or_armed else max(first, self.timer.reading() + 1)

    def was_told(self, moment: int) -> bool:
        """Whether a firing has announced a bucket that wants to be looked at then."""
        return self.timer.told is not None and moment <= self.timer.told

    def moments(self) -> list[int]:
        """When each bucket wants to be looked at."""
        return [*map(self.buckets.wake, self.index.held)]

    def advance(self, ms: int) -> list[list[Any]]:
        """Move the clock; timers fire on the way. Answers what came of each firing, see :meth:`fired`."""
        until, firings = self.timer.now + ms, []
        while self.timer.armed and self.timer.armed[0] <= until:
            self.timer.advance(max(self.timer.armed[0] - self.timer.now, 0))
            firings.append(self.fired())
            if len(firings) > MOST_FIRINGS:
                raise Fault("RuntimeError")
        self.timer.advance(until - self.timer.now)
        return firings

    def fired(self) -> list[Any]:
        """The timer has fired: the time, the handles asked to read, and the messages that they took at once, if any."""
        asked = sorted((view for view in self.registry.registered.values() if self.is_asked(view)), key=by_handle)
        self.rearm(len(asked))
        reads = self.registry.reads
        took = [[v.handle, self.meanwhile(v, reads[v.handle])] for v in asked if reads.get(v.handle, -1) >= 0]
        return [self.timer.now, [view.handle for view in asked], *([took] if took else [])]

    @rule("TD-19", source=f"{MANAGER}, the timer's callback")
    def is_asked(self, view: SubscriptionView) -> bool:
        """A firing asks the dispatcher of a view to read if a message is available to the view, and no others."""
        return view.sees_due()

    @rule("TD-44", source="as NA-35 and EC-59")
    def meanwhile(self, view: SubscriptionView, most: int) -> list[Position]:
        """While a dispatcher is asked to read, a call from any thread comes to its end.

        No lock is held that it takes.
        """
        return self.hand_out(view, most)

    @rule("TD-18", source=f"{MANAGER}; T-03", when=lambda m, asked: m.index.held)
    def rearm(self, asked: int) -> None:
        """A firing updates the timer, so later buckets need no call."""
        self.update_timer()

    def jump(self, by: int) -> None:
        """Set the clock, forwards or back; no timer fires."""
        self.timer.jump(by)

    def reads(self, handle: str, most: int) -> None:
        """Set how many messages a dispatcher takes at once whenever it is asked to read; below 0: none."""
        if self.registry.view(handle) is not None:
            self.registry.reads[handle] = most

    def stale(self) -> bool:
        """The timeout that was cancelled last fires nevertheless; answers whether a view was asked to read."""
        return self.timer.stale()

    # ---- What is seen

    def memory(self, handle: str) -> Allowed | int | None:
        """The memory estimate of the topic, in bytes."""
        return self.asked(handle, lambda _: self.memory_estimate.allowed(self.index.count()))

    def memory_seen(self) -> int | Undefined:
        """The memory estimate, as it is seen after every operation: any. ``memory`` looks at it."""
        return UNDEFINED

    def armed(self) -> list[int] | Allowed:
        """The times of all armed timeouts."""
        return self.timer.allowed(self.aim_timer)

    def sets(self) -> list[int]:
        """How many buckets there are, and how many sets of entries, one for each ledger in a bucket."""
        return [len(self.index.held), sum(len({ledger for ledger, _ in b}) for b in self.index.held.values())]

    def letter(self, handle: str, view: SubscriptionView) -> str:
        """What a view answers: h, a message is available; p, deliveries should pause; x, that it is stale."""
        if self.registry.refuses(handle):
            return "x"
        return "h" if self.is_available(view) else "p" if self.pauses(view) else "-"

    def seen(self) -> tuple[Any, ...]:
        """Copies held, bytes, the times of all armed timeouts, what the index is made of, and the views' letters."""
        state = "".join(self.letter(handle, view) for handle, view in self.registry.in_order())
        return self.index.count(), self.memory_seen(), self.armed(), self.sets(), state

    def let_go(self) -> None:
        """Forget the views, which refuse every call."""
        self.registry.views = {}

    def glimpsed(self) -> tuple[Any, ...]:
        """The number of copies held, and the times of all armed timeouts."""
        return self.index.count(), None, self.armed(), None, None


def index_of(made: type[Index], copies: Iterable[Placed]) -> Index:
    """Some copies, as an index of their own."""
    index = made()
    for key, position in copies:
        index.held.setdefault(key, Bucket())[position] = 1
    return index


def by_handle(view: SubscriptionView) -> tuple[str, int, str]:
    """Sorts views by their handles: by name, then by number."""
    return view.name, len(view.handle), view.handle
