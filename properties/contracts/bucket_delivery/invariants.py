"""What holds of a bucket tracker whatever the model says: judged on what was observed alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Any

from msgspec.structs import replace

from broker_tck.properties.contracts.bucket_delivery.messages import nth
from broker_tck.properties.contracts.bucket_delivery.operations import (
    AT_ONCE,
    Add,
    Advance,
    Clear,
    Complete,
    Config,
    Conflict,
    Crash,
    Fail,
    Fill,
    Get,
    Has,
    Jump,
    Lost,
    Reopen,
    ResetTick,
    Snapshot,
    Snapshots,
    Spoil,
    Storage,
    Stored,
    Vanish,
)
from broker_tck.properties.engine.choices import Choices
from broker_tck.properties.engine.contract import Invariant, Relation, Step
from broker_tck.properties.engine.operation import Operation, shifted

Judged = Iterator[tuple[int, str | None]]
Varied = tuple[Config, list[Operation]]
FAR = 2**52
"""Times beyond this are left alone: moved, they might pass the end of time."""
OBSERVABLES = 6


def seen(config: Config, steps: Sequence[Step]) -> Iterator[tuple[int, Step, int, list[Add], list[Add]]]:
    """All steps up to an error, or to where there is no tracker.

    Each comes with its index, the time up to which messages are due, what was added, and what was refused: of many
    messages those that are due.
    """
    now, tick = config.clock, config.tick
    for index, step in enumerate(steps):
        o = step.operation
        if isinstance(step.result, dict) or len(step.seen) != OBSERVABLES or step.seen[0] is None:
            return
        if isinstance(o, Advance):
            now += o.ms
        elif isinstance(o, Jump):
            now += o.by
        elif isinstance(o, ResetTick | Crash | Reopen):
            tick = o.tick if isinstance(o, ResetTick) else config.tick
        cutoff = now if config.strict else now + tick
        adds = adds_of(o)
        accepted = [add.at > max(cutoff, -1) if isinstance(o, Fill) else bool(step.result) for add in adds]
        refused = [add for add, taken in zip(adds, accepted, strict=True) if not taken]
        yield index, step, cutoff, [*compress(adds, accepted)], refused


def adds_of(o: Operation) -> list[Add]:
    """The messages that an operation adds."""
    if isinstance(o, Fill):
        return [nth(o, i) for i in range(o.n)]
    return [o] if isinstance(o, Add) else []


def never_early(config: Config, steps: Sequence[Step]) -> Judged:
    """BD-44: what is handed out is due, for one of the times for which it was accepted since it was refused last.

    A recovery finds in a snapshot also what was refused since: then all times count again.
    """
    times: dict[tuple[int, int], set[int]] = {}
    ever: dict[tuple[int, int], set[int]] = {}
    for index, step, cutoff, taken, refused in seen(config, steps):
        if isinstance(step.operation, Crash | Reopen):
            times = {position: {*all_times} for position, all_times in ever.items()}
        for add in taken:
            for known in (times, ever):
                known.setdefault((add.ledger, add.entry), set()).add(add.at)
        for add in refused:
            times.pop((add.ledger, add.entry), None)
        if isinstance(step.operation, Get):
            for ledger, entry in step.result:
                early = min(times.get((ledger, entry), {cutoff})) - cutoff
                yield index, f"{ledger}:{entry} was handed out {early} ms early" if early > 0 else None


def once(config: Config, steps: Sequence[Step]) -> Judged:
    """BD-19: between two recoveries, what is handed out was accepted since it was handed out, refused or cleared."""
    held: set[tuple[int, int]] = set()
    recovered = False
    for index, step, _, taken, refused in seen(config, steps):
        if isinstance(step.operation, Crash | Reopen):
            recovered = True
        if isinstance(step.operation, Clear):
            held.clear()
            recovered = False
        held.update((add.ledger, add.entry) for add in taken)
        held.difference_update((add.ledger, add.entry) for add in refused)
        if isinstance(step.operation, Get):
            for position in map(tuple, step.result):
                strange = position not in held and not recovered
                yield index, f"{position} was handed out but is not held" if strange else None
                held.discard(position)


def nothing_stuck(config: Config, steps: Sequence[Step]) -> Judged:
    """BD-02: past all times, with no call under way, nothing is held that a get does not hand out."""
    latest = 0
    for index, step, cutoff, _, _ in seen(config, steps):
        o = step.operation
        if step.result:
            latest = max([latest, *(add.at for add in adds_of(o))])
        if isinstance(o, Get) and o.most > 0 and not step.result and not step.seen[4] and latest <= cutoff:
            count = step.seen[0]
            yield index, f"{count} held, nothing handed out, no call under way" if count else None


def accounts(config: Config, steps: Sequence[Step]) -> Judged:
    """BD-25: an add counts one up at most, a refusal one down; a get counts down by no less than it hands out."""
    before, at_once = 0, False
    for index, step, *_ in seen(config, steps):
        o, count = step.operation, step.seen[0]
        if isinstance(o, Storage):
            at_once = o.mode == AT_ONCE
        wrong = False
        if isinstance(o, Add | Fill) and not at_once:
            taken, asked = int(step.result), len(adds_of(o))
            wrong = not taken - asked <= count - before <= taken
        elif isinstance(o, Get):
            wrong = before - count < len(step.result)
        elif not isinstance(o, Add | Fill | Complete | Fail | Conflict | Stored | Clear | Crash | Reopen):
            wrong = count != before
        yield index, f"the count went from {before} to {count}" if wrong else None
        before = count


def no_leak(config: Config, steps: Sequence[Step]) -> Judged:
    """BD-17: where nothing failed or crashed and nothing is under way, each snapshot has a key, and each key one."""
    for index, step, *_ in seen(config, steps):
        o = step.operation
        gave_up = isinstance(o, Fail | Conflict) and step.result is not None and step.result not in step.seen[4]
        if isinstance(o, Stored | Crash | Reopen | Vanish | Spoil | Lost) or gave_up:
            return
        if isinstance(step.operation, Snapshots) and not step.seen[4]:
            keyed = sorted(map(int, step.seen[5].values()))
            yield index, None if keyed == step.result else f"snapshots {step.result}, keys lead to {keyed}"


def no_old_time(config: Config, steps: Sequence[Step]) -> Judged:
    """BD-49: after an add that counts no timeout waits for a time that the clock showed before it was set back."""
    before, longest, forwards = 0, config.tick, 0
    for index, step, cutoff, taken, _ in seen(config, steps):
        o, count, armed = step.operation, step.seen[0], step.seen[3]
        if isinstance(o, ResetTick):
            longest = max(longest, o.tick)
        if isinstance(o, Jump):
            forwards += max(o.by, 0)
        if taken and count > before and armed:
            late = armed[0] - max(*(add.at for add in taken), cutoff + longest) - forwards
            yield index, f"the timeout is armed {late} ms too late" if late > 0 else None
        before = count


def dispatcher_owes(step: Step, owes: bool) -> bool:
    """Whether the dispatcher asks next.

    It asks after a firing, an add, or a recovery, and again while an answer says that there may be more.
    """
    o = step.operation
    if isinstance(o, Get):
        return len(step.result) >= o.most
    if isinstance(o, Has):
        return bool(step.result)
    return owes or isinstance(o, Add | Fill | Crash | Reopen) or (isinstance(o, Advance) and bool(step.result))


def nothing_forgotten(config: Config, steps: Sequence[Step]) -> Judged:
    """BD-51: while messages are held, a call is under way, the dispatcher asks next, or a timeout is armed.

    A timeout counts if it fires by the last time that was added, or a tick from now.
    """
    owes, latest, longest, forwards = False, 0, config.tick, 0
    for index, step, cutoff, taken, _ in seen(config, steps):
        o, (count, _, _, armed, pending, _) = step.operation, step.seen
        owes = dispatcher_owes(step, owes)
        latest = max([latest, *(add.at for add in taken)])
        longest = max(longest, o.tick) if isinstance(o, ResetTick) else longest
        forwards += max(o.by, 0) if isinstance(o, Jump) else 0
        if count > 0 and not owes and not pending:
            woken = armed and armed[0] <= max(latest, cutoff + longest) + forwards
            yield index, None if woken else f"{count} held, nobody asks, armed {armed}"


INVARIANTS: tuple[Invariant, ...] = (
    Invariant("BD-02", nothing_stuck),
    Invariant("BD-17", no_leak),
    Invariant("BD-19", once),
    Invariant("BD-25", accounts),
    Invariant("BD-44", never_early),
    Invariant("BD-49", no_old_time),
    Invariant("BD-51", nothing_forgotten),
)


# ---- Relations


def vary_shift(config: Config, operations: Sequence[Operation], choices: Choices) -> Varied | None:
    """Move clock and times by the same."""
    if any(add.at > FAR for o in operations for add in adds_of(o)):
        return None
    lowest = config.clock + sum(min(o.by, 0) for o in operations if isinstance(o, Jump))
    if max([config.tick, *(o.tick for o in operations if isinstance(o, ResetTick))]) > lowest:
        return None  # a released timer keeps its distance from a run at 0, which does not move
    ms = 1 + choices.below(10**6)
    return replace(config, clock=config.clock + ms), [shifted(o, ms) for o in operations]


def equal_shifted(config: Config, steps: Sequence[Step], other: Config, varied: Sequence[Step]) -> bool:
    """The same outcomes, times moved as the clock was."""
    return [outcome(s, other.clock - config.clock) for s in steps] == [outcome(s, 0) for s in varied]


def outcome(step: Step, ms: int) -> tuple[Any, ...]:
    """What a step showed, with its times moved; a snapshot's content is left out."""
    if len(step.seen) != OBSERVABLES or step.seen[0] is None:
        return step.result, step.seen
    moves = isinstance(step.operation, Advance) and isinstance(step.result, list)
    result = [at + ms for at in step.result] if moves else step.result
    result = None if isinstance(step.operation, Snapshot) else result
    count, buckets, queues, armed, *others = step.seen
    return result, count, buckets, queues, [moved(at, ms) for at in armed], *others


def moved(at: int, ms: int) -> int:
    """A time moved; the last time that there is stays."""
    return at + ms if at < FAR else at


def vary_split(config: Config, operations: Sequence[Operation], choices: Choices) -> Varied | None:
    """Divide each step of the clock in two."""
    varied: list[Operation] = []
    for o in operations:
        if isinstance(o, Advance) and o.ms > 1:
            first = choices.below(min(o.ms, 2**20))
            varied += [Advance(first), Advance(o.ms - first)]
        else:
            varied.append(o)
    return (config, varied) if len(varied) > len(operations) else None


def equal_split(config: Config, steps: Sequence[Step], other: Config, varied: Sequence[Step]) -> bool:
    """The same outcomes where the clock has moved as far."""
    parts = iter(varied)
    for step in steps:
        part = next(parts)
        fired = part.result
        if isinstance(step.operation, Advance) and part.operation != step.operation:
            part = next(parts)
            fired = [*fired, *part.result] if isinstance(fired, list) and isinstance(part.result, list) else part.result
        if (step.result, step.seen) != (fired, part.seen):
            return False
    return True


RELATIONS: tuple[Relation, ...] = (
    Relation("shift", "With all its times moved, a trace has the same outcomes, moved.", vary_shift, equal_shifted),
    Relation("split", "A step of the clock may be made in two.", vary_split, equal_split),
)
