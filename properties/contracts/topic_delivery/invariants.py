"""What holds of the views of a topic whatever the model says: judged on what was observed alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from broker_tck.model.delayed_delivery.specification import DelayedDelivery
from broker_tck.properties.contracts.topic_delivery import operations as op
from broker_tck.properties.engine.attended import Attended, Dispatchers, attended, looked, nobody_is_forgotten
from broker_tck.properties.engine.contract import Invariant, Step
from broker_tck.properties.engine.following import StillThere, asked_after, nothing_left
from broker_tck.properties.engine.operation import Operation

Position = tuple[int, int]
Verdicts = Iterator[tuple[int, str | None]]
STALE = "x"
AVAILABLE = "h"


def sound(steps: Sequence[Step]) -> Iterator[tuple[int, Step]]:
    """The steps up to one at which the subject could not be looked at."""
    for index, step in enumerate(steps):
        if len(step.seen) != 5:
            return
        yield index, step


def moved(o: Operation) -> int:
    """By how much an operation moves the wall clock."""
    return o.ms if isinstance(o, op.Advance) else o.by if isinstance(o, op.Jump) else 0


def erred(step: Step) -> bool:
    """Whether the operation raised an error."""
    return isinstance(step.result, dict)


def accepted(step: Step) -> list[tuple[Position, int]]:
    """The positions that a step may have put into the index, with their times."""
    o = step.operation
    if erred(step) or not step.result:
        return []
    if isinstance(o, op.Add):
        return [((o.ledger, o.entry), o.at)]
    if isinstance(o, op.Fill):
        return added(o)
    return []


def added(fill: op.Fill) -> list[tuple[Position, int]]:
    """The positions of many messages that are added at once, with their times."""
    places = [divmod(i, fill.each or fill.n) for i in range(fill.n)]
    positions = [(fill.ledger + ledger, fill.entry + entry * fill.step) for ledger, entry in places]
    return [(position, fill.at + i * fill.apart) for i, position in enumerate(positions)]


def handed_out(step: Step, now: int) -> list[tuple[Position, int]]:
    """The positions that views took at a step, each with the time when."""
    if erred(step) or step.result is None:
        return []
    if isinstance(step.operation, op.Get):
        return [((ledger, entry), now) for ledger, entry in step.result]
    if not isinstance(step.operation, op.Advance):
        return []
    firings = [(firing[0], taken) for firing in step.result if len(firing) > 2 for _, taken in firing[2]]
    return [((ledger, entry), at) for at, taken in firings for ledger, entry in taken]


def none_early(config: op.Config, steps: Sequence[Step]) -> Verdicts:
    """TD-04: while the tick is unchanged, nothing is handed out before its time but for the tick."""
    now, early = config.clock, 0 if config.strict else config.tick
    soonest: dict[Position, int] = {}
    for index, step in sound(steps):
        if isinstance(step.operation, op.ResetTick) and step.operation.tick != config.tick:
            return
        now += moved(step.operation)
        for position, at in accepted(step):
            soonest[position] = min(at, soonest.get(position, at))
        for position, at in handed_out(step, now):
            wait = soonest.get(position, at) - early - at
            yield index, f"{position} was handed out {wait} ms early" if wait > 0 else None


def held_once(config: op.Config, steps: Sequence[Step]) -> Verdicts:
    """TD-33: what is held is no more than what was accepted, whoever accepted it."""
    pairs: set[tuple[Position, int]] = set()
    for index, step in sound(steps):
        pairs.update(accepted(step))
        if count := step.seen[0]:
            yield index, f"{count} copies of {len(pairs)} messages are held" if count > len(pairs) else None


def nobody_waits(config: op.Config, steps: Sequence[Step]) -> Verdicts:
    """TD-35: who waits for a message is asked when it comes, or a timeout is armed for that.

    A tracker does not see that its clock is set, only that it was, once it is asked.
    """
    handles: list[str] = []
    before = ""
    unseen = False
    for index, step in sound(steps):
        count, _, armed, _, state = step.seen
        handles = still_open(handles, step)
        unseen = isinstance(step.operation, op.Jump) or (unseen and not sees_the_clock(step))
        if unseen:
            before = state
            continue
        if count > 0 and AVAILABLE not in state and state.strip(STALE):
            yield index, None if armed else f"{count} held, nothing available, no timeout armed"
        if isinstance(step.operation, op.Advance | op.ResetTick) and not erred(step):
            letters = zip(handles, before, state, strict=True)
            came = {handle for handle, was, is_now in letters if is_now == AVAILABLE != was}
            missed = came.difference(*(firing[1] for firing in step.result or ()))
            if came:
                yield index, None if armed or not missed else f"{min(missed)} was not asked to read, no timeout armed"
        before = state


def sees_the_clock(step: Step) -> bool:
    """Whether a tracker must have looked at its clock and its timer."""
    o = step.operation
    fired = isinstance(o, op.Advance) and bool(step.result)
    return (
        fired
        or (isinstance(o, op.Get | op.Add) and bool(step.result))
        or (isinstance(o, op.Has) and step.result is False)
    )


def still_open(handles: list[str], step: Step) -> list[str]:
    """The views that are open after a step, in the order of their letters."""
    o = step.operation
    if isinstance(o, op.Open) and not erred(step):
        return sorted([*handles, step.result], key=lambda handle: (handle[0], int(handle[1:])))
    if isinstance(o, op.Close):
        return [handle for handle in handles if handle != o.handle]
    return handles


class Watched:
    """The views as they are known from outside: where each is, and what it waits for at least."""

    def __init__(self) -> None:
        self.registered: dict[str, str] = {}
        """By the name of a subscription, the handle of its latest view."""
        self.marks: dict[str, Position] = {}
        """By the name of a subscription."""
        self.accepted: set[Position] = set()
        self.waiting: dict[str, set[Position]] = {}
        """By view, what it has added, and was neither handed nor has acknowledged or cleared."""

    def saw(self, step: Step) -> None:
        """Take a step in."""
        o = step.operation
        if erred(step):
            return
        self.accepted.update(position for position, _ in accepted(step))
        if isinstance(o, op.Open):
            self.registered[o.name], self.waiting[step.result] = step.result, set()
        if isinstance(o, op.Close) and self.registered.get(o.handle[0]) == o.handle:
            del self.registered[o.handle[0]]
        if isinstance(o, op.Advance):
            for handle, taken in (each for firing in step.result if len(firing) > 2 for each in firing[2]):
                self.waiting[handle].difference_update(map(tuple, taken))
        handle = getattr(o, "handle", "")
        if handle in self.waiting:
            self.did(handle[0], step, self.waiting[handle])

    def did(self, name: str, step: Step, waiting: set[Position]) -> None:
        """A view of a subscription has done something."""
        o = step.operation
        if isinstance(o, op.Add) or (isinstance(o, op.Fill) and step.result == o.n):
            mark = self.marks.get(name)
            waiting.update(position for position, _ in accepted(step) if mark is None or position > mark)
        if isinstance(o, op.Get):
            waiting.difference_update(map(tuple, step.result))
        if isinstance(o, op.Clear | op.Close):
            waiting.clear()
        if isinstance(o, op.MarkDelete):
            self.marks[name] = o.ledger, o.entry
            waiting.difference_update([position for position in waiting if position <= self.marks[name]])

    def all_is_passed(self) -> bool:
        """Whether every registered view has passed every position that was accepted."""
        marks = [self.marks.get(name) for name in self.registered]
        return bool(self.accepted and marks) and all(mark and mark >= max(self.accepted) for mark in marks)


def nothing_passed_is_held(config: op.Config, steps: Sequence[Step]) -> Verdicts:
    """TD-36: what every view has passed is not held."""
    views = Watched()
    for index, step in sound(steps):
        views.saw(step)
        if views.all_is_passed():
            count = step.seen[0]
            yield index, f"{count} copies are held that every view has passed" if count else None


def nothing_lost(config: op.Config, steps: Sequence[Step]) -> Verdicts:
    """TD-37: a view counts what it has added, and was neither handed nor has acknowledged or cleared."""
    views = Watched()
    for index, step in sound(steps):
        views.saw(step)
        o = step.operation
        if isinstance(o, op.Count) and step.result is not None and not erred(step):
            least = len(views.waiting[o.handle])
            if least:
                yield (
                    index,
                    f"{o.handle} counts {step.result} messages, but waits for {least}" if step.result < least else None,
                )


def no_old_time(config: op.Config, steps: Sequence[Step]) -> Verdicts:
    """TD-40: after an add no timeout waits for a time that the clock showed before it was set back."""
    width, now, longest, forwards, before = 1 << max(config.tick, 1).bit_length() - 1, config.clock, config.tick, 0, 0
    for index, step in sound(steps):
        o, (count, _, armed, _, _) = step.operation, step.seen
        now += moved(o)
        if isinstance(o, op.ResetTick):
            longest = max(longest, o.tick)
        if isinstance(o, op.Jump):
            forwards += max(o.by, 0)
        if isinstance(o, op.Add) and count > before and armed:
            late = armed[0] - max(o.at + width, now + longest) - forwards
            yield index, f"the timeout is armed {late} ms too late" if late > 0 else None
        before = count


# ---- One view is a tracker of delayed delivery


def alone(config: op.Config, steps: Sequence[Step]) -> Verdicts:
    """TD-34: one view without a mark-delete position answers as a tracker of delayed delivery does."""
    tracker = DelayedDelivery(cast(Any, config))
    handle = ""
    for index, step in sound(steps):
        o = step.operation
        if isinstance(o, op.Open) and not handle and not erred(step):
            handle = step.result
            continue
        if isinstance(o, op.Open | op.Close | op.MarkDelete | op.Reads | op.Shutdown) or erred(step):
            return
        if isinstance(o, op.Advance):
            tracker.advance(o.ms)
        if isinstance(o, op.Jump):
            tracker.jump(o.by)
        if getattr(o, "handle", handle) != handle or not handle:
            continue
        expected = as_tracker(o, tracker)
        if expected is not None:
            meant, told = (expected, tracker.count()), (step.result, step.seen[0])
            yield index, None if meant == told else f"answer and count of a tracker of one are {meant}, not {told}"


def as_tracker(o: Operation, tracker: DelayedDelivery) -> Any:
    """What a tracker answers to what a view is asked; None: nothing, or it is not asked."""
    if isinstance(o, op.Add):
        return tracker.add(o.ledger, o.entry, o.at)
    if isinstance(o, op.Fill):
        return sum([tracker.add(*position, at) for position, at in added(o)])
    if isinstance(o, op.Get):
        return [list(position) for position in tracker.get(o.most)]
    if isinstance(o, op.ResetTick):
        tracker.reset_tick(o.tick)
    if isinstance(o, op.Clear):
        tracker.clear()
    asked = {op.Has: tracker.has, op.Pause: tracker.pause, op.Count: tracker.count}.get(type(o))
    return asked() if asked else None


class NobodyWaits(StillThere, frozen=True, tag="still_there"):
    """Ask for the ids that are still there, if no view is open that answers and no copy is held."""

    def holds_nothing(self, seen: tuple[Any, ...]) -> bool:
        """Whether, by what is seen, no copy is held and every view refuses calls."""
        return seen[0] == 0 and {*seen[4]} <= {STALE}


# ---- Dispatchers at work


class OfTheViews(Dispatchers):
    """The dispatchers of all views that are registered."""

    def __init__(self, to: Any) -> None:
        super().__init__(to)
        self.registered: dict[str, str] = {}
        """By the name of a subscription, the handle of its latest view, if that is open."""
        self.ended = False

    def shown(self) -> tuple[int, list[int]]:
        """The number of copies, and the times of armed timeouts. No view is asked for that."""
        count, _, armed, *_ = self.to.glimpsed()
        return count, looked(armed)

    def does(self, operation: Any) -> bool:
        """Whether an operation is no question, and no view refuses it."""
        if isinstance(operation, op.Open):
            return not self.ended
        if isinstance(operation, op.Add | op.Fill | op.MarkDelete | op.ResetTick | op.Clear):
            return operation.handle in self.registered.values()
        return isinstance(operation, op.Close | op.Jump | op.Stale | op.Shutdown)

    def asks_after(self, operation: Any, result: Any) -> list[tuple[str, ...]]:
        """A dispatcher asks when its view is opened, after its adds, and when a firing has asked it to read."""
        if isinstance(operation, op.Open):
            self.registered[operation.name] = result
            return [(result,)]
        if isinstance(operation, op.Close | op.Shutdown):
            self.ended |= isinstance(operation, op.Shutdown)
            closed = getattr(operation, "handle", None)
            self.registered = {n: h for n, h in self.registered.items() if not self.ended and h != closed}
        if isinstance(operation, op.Add | op.Fill):
            return [(operation.handle,)]
        asked = [handle for firing in result for handle in firing[1]] if operation is None else []
        return [(handle,) for handle in asked if handle in self.registered.values()]


class WithDispatchers(Attended, frozen=True, tag="attended"):
    """Play a trace with the dispatchers of all views at work."""

    dispatchers = OfTheViews


INVARIANTS: tuple[Invariant, ...] = (
    Invariant("TD-04", none_early),
    Invariant("TD-33", held_once),
    Invariant("TD-34", alone),
    Invariant("TD-35", nobody_waits),
    Invariant("TD-36", nothing_passed_is_held),
    Invariant("TD-37", nothing_lost),
    Invariant("TD-40", no_old_time),
    Invariant("TD-41", nothing_left, asked_after(op.Add, op.Close | op.Shutdown, NobodyWaits)),
    Invariant("TD-43", nobody_is_forgotten, attended(WithDispatchers)),
)
