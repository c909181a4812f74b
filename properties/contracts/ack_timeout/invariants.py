"""What holds of a tracker of ack timeouts whatever the model says: judged on what was observed alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from broker_tck.properties.contracts.ack_timeout.operations import (
    LAST_ID,
    Add,
    Advance,
    Clear,
    Close,
    Config,
    Fill,
    Inside,
    Remove,
    RemoveTill,
    RemoveTopic,
    Stale,
)
from broker_tck.properties.engine.choices import Choices
from broker_tck.properties.engine.contract import Invariant, Relation, Step
from broker_tck.properties.engine.following import asked_after, nothing_left
from broker_tck.properties.engine.operation import POSITION, Operation, marked

Id = tuple[int, int, int]
SHIFT = 2**40 + 7_777_777
"""Milliseconds: no multiple of a tick, nor of a power of two."""
FURTHER = 1_000
REMOVING = Advance | Stale | Remove | RemoveTill | RemoveTopic | Clear | Close


def emissions(step: Step) -> list[Any]:
    """What came back in a step."""
    return step.result if isinstance(step.operation, Advance | Stale) and isinstance(step.result, list) else []


def parts(operation: Operation) -> list[Id]:
    """The ids that may come back because of an operation, that of the message first."""
    if isinstance(operation, Add):
        return [(operation.ledger, operation.entry - i, operation.index) for i in range(operation.chunks)]
    if isinstance(operation, Fill):
        return [(ledger, entry, -1) for ledger, entry in operation.each()]
    return [(operation.ledger, operation.entry, -1)] if isinstance(operation, Inside) else []


def only_added(config: Config, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
    """AT-60: what comes back was added."""
    known: set[Id] = set()
    for index, step in enumerate(steps):
        known.update(parts(step.operation))
        for _, ids, _ in emissions(step):
            wrong = [message for message in ids if tuple(message) not in known]
            yield index, f"{wrong[0]} comes back and was never added" if wrong else None


def tracked(config: Config, steps: Sequence[Step]) -> Iterator[tuple[int, Step, int, dict[Id, tuple[int, int]]]]:
    """Each step up to the first inside a callback, with its time, and when what is tracked was added, with its delay.

    Messages that what comes back has are tracked until they were looked at.
    """
    now, added = config.clock, dict[Id, tuple[int, int]]()
    for index, step in enumerate(steps):
        operation = step.operation
        if isinstance(operation, Inside | Stale | Close | RemoveTopic) or isinstance(step.result, dict):
            return
        if isinstance(operation, Add | Fill):
            table = config.backoff or (0,)
            delay = table[min(operation.count, len(table) - 1)]
            for message in parts(operation)[: operation.n if isinstance(operation, Fill) else 1]:
                added.setdefault(message, (now, delay))
        yield index, step, now, added
        now += operation.ms if isinstance(operation, Advance) else 0
        if isinstance(operation, Clear):
            added.clear()
        if isinstance(operation, Remove | RemoveTill):
            last = (operation.ledger, operation.entry, operation.index)
            till = isinstance(operation, RemoveTill)
            gone = [message for message in added if message == last or (till and message < last)]
            for message in gone:
                del added[message]
        for _, ids, _ in emissions(step):
            for ledger, entry, i in ids:
                added.pop((ledger, entry, i), None)


def not_early(config: Config, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
    """AT-61: what comes back was given its time."""
    for index, step, _, added in tracked(config, steps):
        for at, ids, _ in emissions(step):
            times = [added[message] for message in map(tuple, ids) if message in added]
            early = [made for made, delay in times if at < made + config.ack_timeout + delay]
            yield index, f"what was added at {early[0]} comes back at {at}" if early else None


def not_late(config: Config, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
    """AT-62: what was given its time has come back."""
    tick = min(config.tick, config.ack_timeout)
    for index, step, now, added in tracked(config, steps):
        if isinstance(step.operation, Advance):
            came = {tuple(message): at for at, ids, _ in emissions(step) for message in ids}
            until = now + step.operation.ms
            latest = {message: made + config.ack_timeout + delay + 3 * tick for message, (made, delay) in added.items()}
            late = [message for message, last in latest.items() if came.get(message, until) > last]
            yield index, f"{late[0]} is late" if late else None


def none_removed(config: Config, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
    """AT-63: what comes back was not removed, as far as messages without chunks tell it."""
    whole = {message for step in steps if isinstance(step.operation, Add) for message in parts(step.operation)[1:]}
    for index, step, _, added in tracked(config, steps):
        for _, ids, _ in emissions(step):
            wrong = [message for message in map(tuple, ids) if message not in added and message not in whole]
            yield index, f"{wrong[0]} comes back and is not tracked" if wrong else None


def armed_while_tracked(config: Config, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
    """AT-14: one timeout is armed while something is tracked; after a close none is."""
    closed = maybe_closed = False
    for index, step in enumerate(steps):
        if len(step.seen) != 2 or isinstance(step.result, dict):
            return
        size, armed = step.seen
        closed = closed or isinstance(step.operation, Close)
        maybe_closed = maybe_closed or (isinstance(step.operation, Inside) and step.operation.what == "close")
        least = 0 if maybe_closed or size == 0 else 1
        fits = not armed if closed else least <= len(armed) <= 1
        yield index, None if fits else f"{size} messages are tracked, and {len(armed)} timeouts armed"


INVARIANTS: tuple[Invariant, ...] = (
    Invariant("AT-14", armed_while_tracked),
    Invariant("AT-60", only_added),
    Invariant("AT-61", not_early),
    Invariant("AT-62", not_late),
    Invariant("AT-63", none_removed),
    Invariant("AT-64", nothing_left, asked_after(Add, REMOVING)),
)


# ---- Relations


def shifted(config: Config, operations: Sequence[Operation], choices: Choices) -> tuple[Config, list[Operation]] | None:
    """The same later."""
    return replace(config, clock=config.clock + SHIFT), list(operations)


def equal_shifted(config: Any, steps: Sequence[Step], other: Any, others: Sequence[Step]) -> bool:
    """Whether all times are moved, and nothing else."""
    return moved(steps, ms=other.clock - config.clock) == moved(others)


def renamed(config: Config, operations: Sequence[Operation], choices: Choices) -> tuple[Config, list[Operation]] | None:
    """The same with all entries moved."""
    if any(getattr(operation, "entry", 0) + getattr(operation, "n", 0) > LAST_ID - FURTHER for operation in operations):
        return None
    return config, [replace(o, entry=o.entry + FURTHER) if marked(type(o), POSITION) else o for o in operations]  # type: ignore[attr-defined]


def equal_renamed(config: Any, steps: Sequence[Step], other: Any, others: Sequence[Step]) -> bool:
    """Whether all entries are moved, and nothing else."""
    return moved(steps, entries=FURTHER) == moved(others)


def moved(steps: Sequence[Step], ms: int = 0, entries: int = 0) -> list[Any]:
    """What was answered, came back and was counted, with times and entries moved."""
    return [
        (
            [[at + ms, [[ledger, entry + entries, i] for ledger, entry, i in ids], made] for at, ids, made in back]
            if (back := emissions(step))
            else step.result,
            step.seen[0],
        )
        for step in steps
    ]


RELATIONS: tuple[Relation, ...] = (
    Relation("shift", "With its clock moved, a trace has the same outcomes, moved.", shifted, equal_shifted),
    Relation("rename", "With its entries renamed, a trace has its outcomes renamed.", renamed, equal_renamed),
)
