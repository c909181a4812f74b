"""What holds of a delayed-delivery tracker whatever the model says: judged on what was observed alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from broker_tck.properties.contracts.delayed_delivery import operations as op
from broker_tck.properties.engine.attended import (
    Attended,
    Dispatchers,
    attended,
    last_time,
    looked,
    nobody_is_forgotten,
)
from broker_tck.properties.engine.choices import Choices
from broker_tck.properties.engine.contract import Invariant, Relation, Step
from broker_tck.properties.engine.following import asked_after, nothing_left
from broker_tck.properties.engine.operation import Operation, shifted

Verdicts = Iterator[tuple[int, str | None]]
FAR = 2**52
"""Times beyond this are left alone: moved, they might pass the end of time."""


def clocked(config: op.Config, steps: Sequence[Step]) -> Iterator[tuple[int, int, int, Step]]:
    """Each step with its index, the time and the tick, up to an error or the end."""
    now, tick = config.clock, config.tick
    for index, step in enumerate(steps):
        if isinstance(step.operation, op.Advance):
            now += step.operation.ms
        if isinstance(step.operation, op.Jump):
            now += step.operation.by
        if isinstance(step.operation, op.ResetTick):
            tick = step.operation.tick
        if erred(step) or isinstance(step.operation, op.Close):
            return
        yield index, now, tick, step


def erred(step: Step) -> bool:
    """Whether the operation, or looking at the subject after it, raised an error."""
    return isinstance(step.result, dict) or len(step.seen) != 2


def adds_of(step: Step) -> list[tuple[tuple[int, int], int]]:
    """The positions that a step offered, with their times."""
    o = step.operation
    if isinstance(o, op.Add):
        return [((o.ledger, o.entry), o.at)]
    if isinstance(o, op.Fill):
        return [((o.ledger, o.entry + i * o.step), o.at + i * o.apart) for i in range(o.n)]
    return []


def one_timeout(config: op.Config, steps: Sequence[Step]) -> Verdicts:
    """DD-23: at most one timeout is armed."""
    for index, _, _, step in clocked(config, steps):
        armed = step.seen[1]
        if armed:
            yield index, f"{len(armed)} timeouts are armed" if len(armed) > 1 else None


def liveness(config: op.Config, steps: Sequence[Step]) -> Verdicts:
    """DD-34: where nothing is due and something is held, a timeout is armed."""
    for index, _, _, step in clocked(config, steps):
        o, (count, armed) = step.operation, step.seen
        nothing_due = (isinstance(o, op.Has) and step.result is False) or (isinstance(o, op.Get) and o.most > 10**6)
        if nothing_due and count > 0:
            yield index, None if armed else f"{count} held, nothing due, no timeout armed"


class SoleCopies:
    """The messages of which it is sure when they were to be delivered: accepted once while none of them was held."""

    def __init__(self) -> None:
        self.held: dict[tuple[int, int], int] = {}
        self.doubtful: set[tuple[int, int]] = set()

    def saw(self, step: Step) -> list[tuple[tuple[int, int], int]]:
        """Take a step in; answers with the sure messages that it handed out, each with its time."""
        o = step.operation
        if step.result:
            for position, at in adds_of(step):
                if position in self.held or (isinstance(o, op.Fill) and step.result != o.n):
                    self.doubtful.add(position)
                self.held[position] = at
        if isinstance(o, op.Clear):
            self.held.clear()
        if not isinstance(o, op.Get):
            return []
        out = [(p, self.held.pop(p)) for p in map(tuple, step.result) if p in self.held]
        return [(p, at) for p, at in out if p not in self.doubtful]

    def sure(self) -> list[int]:
        """The times of the sure messages that are held."""
        return [at for position, at in self.held.items() if position not in self.doubtful]


def no_bounce(config: op.Config, steps: Sequence[Step]) -> Verdicts:
    """DD-08: what was handed out is refused when it is offered again with its own time."""
    copies = SoleCopies()
    smallest: dict[tuple[tuple[int, int], int], int] = {}
    for index, _, tick, step in clocked(config, steps):
        o = step.operation
        if isinstance(o, op.Add) and tick >= smallest.get(((o.ledger, o.entry), o.at), tick + 1):
            yield index, "accepted again after it was handed out" if step.result else None
        if isinstance(o, op.Jump):
            smallest.clear()
        for message in copies.saw(step):
            smallest[message] = tick


def window(config: op.Config, steps: Sequence[Step]) -> Verdicts:
    """DD-07: while the tick is unchanged, a message is available in its window and no later."""
    width = 1 << max(config.tick, 1).bit_length() - 1
    early = 0 if config.strict else config.tick
    copies = SoleCopies()
    for index, now, tick, step in clocked(config, steps):
        if tick != config.tick:
            return
        for _, at in copies.saw(step):
            yield index, f"handed out {at - early - now} ms early" if now < at - early else None
        if isinstance(step.operation, op.Has) and step.result is False and (sure := copies.sure()):
            latest = min(sure) - early + width - 1
            if latest < FAR:
                yield index, f"not available {now - latest} ms after its window" if now >= latest else None


def conservation(config: op.Config, steps: Sequence[Step]) -> Verdicts:
    """DD-35: only what was accepted is handed out, and a count of 0 means that all of it was."""
    accepted: Counter[tuple[int, int]] = Counter()
    waiting: set[tuple[int, int]] = set()
    for index, _, _, step in clocked(config, steps):
        o = step.operation
        if isinstance(o, op.Fill) and step.result not in (0, o.n):
            return
        if isinstance(o, op.Add | op.Fill) and step.result:
            accepted.update(position for position, _ in adds_of(step))
            waiting.update(position for position, _ in adds_of(step))
        if isinstance(o, op.Clear):
            accepted.clear()
            waiting.clear()
        if isinstance(o, op.Get):
            strangers = [p for p in map(tuple, step.result) if not accepted[p]]
            yield index, f"{strangers[0]} was handed out but is not held" if strangers else None
            accepted.subtract(map(tuple, step.result))
            waiting.difference_update(map(tuple, step.result))
        if isinstance(o, op.Has | op.Get) and step.seen[0] < len(waiting):
            yield index, f"{len(waiting)} positions were accepted and not handed out, {step.seen[0]} are counted"


def no_old_time(config: op.Config, steps: Sequence[Step]) -> Verdicts:
    """DD-39: after an add no timeout waits for a time that the clock showed before it was set back."""
    width, longest, forwards = 1 << max(config.tick, 1).bit_length() - 1, config.tick, 0
    for index, now, tick, step in clocked(config, steps):
        o, (_, armed) = step.operation, step.seen
        longest = max(longest, tick)
        if isinstance(o, op.Jump):
            forwards += max(o.by, 0)
        if isinstance(o, op.Add) and step.result and armed:
            late = armed[0] - max(o.at + width, now + longest) - forwards
            yield index, f"the timeout is armed {late} ms too late" if late > 0 else None


class Dispatcher(Dispatchers):
    """The one dispatcher of a tracker."""

    def shown(self) -> tuple[int, list[int]]:
        """The number of messages, and the times of armed timeouts."""
        count, armed = self.to.seen()
        return count, looked(armed)

    def does(self, operation: Any) -> bool:
        """Whether an operation is no question, and does not end the tracker."""
        return isinstance(operation, op.Add | op.Fill | op.ResetTick | op.Jump | op.Stale | op.Clear)

    def asks_after(self, operation: Any, result: Any) -> list[tuple[str, ...]]:
        """It asks after an add, and after a firing that asked for a read."""
        return [()] if result or isinstance(operation, op.Add | op.Fill) else []


class WithADispatcher(Attended, frozen=True, tag="attended"):
    """Play a trace with a dispatcher at work."""

    dispatchers = Dispatcher


INVARIANTS: tuple[Invariant, ...] = (
    Invariant("DD-07", window),
    Invariant("DD-08", no_bounce),
    Invariant("DD-23", one_timeout),
    Invariant("DD-34", liveness),
    Invariant("DD-35", conservation),
    Invariant("DD-39", no_old_time),
    Invariant("DD-40", nothing_left, asked_after(op.Add, op.Get | op.Clear, closing=op.Close)),
    Invariant("DD-41", nobody_is_forgotten, attended(WithADispatcher)),
)


# ---- Relations


Varied = tuple[Any, list[Operation]]


def vary_shift(config: Any, operations: Sequence[Operation], choices: Choices) -> Varied | None:
    """Move clock and times by a multiple of every bucket's width."""
    if any(last_time(o) > FAR for o in operations):
        return None
    lowest = config.clock + sum(min(getattr(o, "by", 0), 0) for o in operations)
    if max([config.tick, *(getattr(o, "tick", 0) for o in operations)]) > lowest:
        return None  # a released timer keeps its distance from a run at 0, which does not move
    ms = (1 + choices.below(1000)) << max(22, config.tick.bit_length())
    return replace(config, clock=config.clock + ms), [shifted(o, ms) for o in operations]


def shift(outcome: Callable[[Step, int], Any]) -> Relation:
    """The relation that moves a trace in time; ``outcome`` tells what a step showed, with its times moved."""

    def equal(config: Any, steps: Sequence[Step], other: Any, varied: Sequence[Step]) -> bool:
        return [outcome(s, other.clock - config.clock) for s in steps] == [outcome(s, 0) for s in varied]

    says = "With all its times moved by a multiple of every bucket's width, a trace has the same outcomes, moved."
    return Relation("shift", says, vary_shift, equal)


def outcome(step: Step, ms: int) -> tuple[Any, ...]:
    """What a step showed, with its times moved; a memory estimate may depend on the way that led there."""
    if len(step.seen) != 2:
        return step.result, step.seen
    moves = isinstance(step.operation, op.Advance) and isinstance(step.result, list)
    result = [at + ms for at in step.result] if moves else step.result
    result = None if isinstance(step.operation, op.Memory) else result
    count, armed = step.seen
    return result, count, [at + ms for at in armed]


def vary_order(config: op.Config, operations: Sequence[Operation], choices: Choices) -> Varied | None:
    """Swap neighbouring adds of one time."""
    varied = list(operations)
    i = 0
    while i < len(varied) - 1:
        a, b = varied[i], varied[i + 1]
        if isinstance(a, op.Add) and isinstance(b, op.Add) and a.at == b.at and a != b:
            varied[i], varied[i + 1] = b, a
            i += 1
        i += 1
    return (config, varied) if varied != operations else None


def equal_unordered(config: op.Config, steps: Sequence[Step], other: op.Config, varied: Sequence[Step]) -> bool:
    """The same outcomes, but for the count between two adds that changed places."""
    for i, (step, swapped) in enumerate(zip(steps, varied, strict=True)):
        next_moved = i + 1 < len(steps) and steps[i + 1].operation != varied[i + 1].operation
        if step.operation != swapped.operation and next_moved:
            continue
        if outcome(step, 0) != outcome(swapped, 0):
            return False
    return True


RELATIONS = (
    shift(outcome),
    Relation("order", "Two adds for one time that follow each other may change places.", vary_order, equal_unordered),
)
