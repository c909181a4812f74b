"""What holds of a negative-acks tracker whatever the model says: judged on what was observed alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from msgspec.structs import replace

from broker_tck.properties.contracts.negative_acks.operations import (
    Advance,
    Batch,
    Chunked,
    Close,
    Config,
    Fail,
    Fill,
    Inside,
    Jump,
    Nack,
    NackId,
    Stale,
    entries_of,
)
from broker_tck.properties.engine.choices import Choices, one_of
from broker_tck.properties.engine.contract import Invariant, Relation, Step
from broker_tck.properties.engine.following import asked_after, nothing_left
from broker_tck.properties.engine.operation import POSITION, Operation, marked

Position = tuple[int, int]
SHIFT = 2**40
"""Milliseconds: a multiple of every bucket's width, of those in nanoseconds as well."""
SLOW_MS = 8
ELSEWHERE = -7_777
"""A ledger that no walk has."""


class Nacked(NamedTuple):
    """A nack, by what it asked for: the times are in milliseconds."""

    position: Position
    made: int
    instant: int
    bucket: int


class Taken(NamedTuple):
    """What an emission did to the buckets that were held."""

    at: int
    unfounded: list[Position]
    """Emitted, though in no bucket that was due."""
    left: list[Position]
    """Due, and not emitted."""


class Plain(NamedTuple):
    """A step before which nothing happened that makes instants unclear."""

    place: int
    step: Step
    now: int
    """Before the step."""
    then: int
    """After it."""
    nacked: list[Nacked]


def delay(config: Config, count: int) -> int:
    """The delay that a redelivery count asks for, in milliseconds."""
    if config.backoff_ms:
        return config.backoff_ms[min(count, len(config.backoff_ms) - 1)]
    return max(config.delay_us // 1_000, 100)


def nacks(operation: Operation) -> list[tuple[Position, int]]:
    """The positions that an operation nacks, with their redelivery counts."""
    match operation:
        case Nack(ledger, entry, count) | Batch(ledger, entry, _, count):
            return [((ledger, entry), count)]
        case NackId(ledger, entry):
            return [((ledger, entry), 0)]
        case Fill():
            return [((ledger, entry), count) for ledger, entry, count in operation.each()]
    return []


def named(operation: Operation) -> set[Position]:
    """The positions that may be emitted because of an operation."""
    return {position for position, _ in entries_of(operation)}


def emissions(step: Step) -> list[Any]:
    """What a step emitted."""
    return step.result if isinstance(step.operation, Advance | Stale) and isinstance(step.result, list) else []


def unclear(operation: Operation) -> bool:
    """Whether an operation does something after which instants, or what is held, are not plain any more."""
    chunked = isinstance(operation, Fill) and operation.chunks > 1
    return chunked or isinstance(operation, Jump | Chunked | Inside | Close | Stale | Fail)


def plain(config: Config, steps: Sequence[Step]) -> Iterator[Plain]:
    """The steps up to the first that is unclear, with the nacks of each."""
    now = config.clock
    if config.multiplier or config.precision_bits > 40:
        return
    for index, step in enumerate(steps):
        if unclear(step.operation) or isinstance(step.result, dict) or len(step.seen) != 2:
            return
        then = now + (step.operation.ms if isinstance(step.operation, Advance) else 0)
        instants = [(position, now + delay(config, count)) for position, count in nacks(step.operation)]
        width = 1 << config.precision_bits
        yield Plain(index, step, now, then, [Nacked(p, now, at, at - at % width) for p, at in instants])
        now = then


def firings(config: Config, steps: Sequence[Step]) -> Iterator[tuple[Plain, int, list[Taken]]]:
    """Each plain step with the number of items, by bucket, that are held after it, and its emissions."""
    held: set[tuple[int, Position]] = set()
    for here in plain(config, steps):
        held.update((nacked.bucket, nacked.position) for nacked in here.nacked)
        taken = []
        for at, ids, _ in emissions(here.step):
            emitted = Counter((ledger, entry) for ledger, entry in ids)
            due = {item for item in held if item[0] <= at}
            founded = Counter({position for _, position in due})
            left = [position for _, position in due if position not in emitted]
            taken.append(Taken(at, [*(emitted - founded)], left))
            held -= {item for item in due if item[1] in emitted}
        yield here, len(held), taken


def only_nacked(config: Config, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
    """P1: what is emitted was nacked."""
    known: set[Position] = set()
    for index, step in enumerate(steps):
        known.update(named(step.operation))
        for _, ids, _ in emissions(step):
            wrong = [i for i in ids if tuple(i) not in known]
            yield index, f"{wrong[0]} is emitted and was never nacked" if wrong else None


def all_emitted(config: Config, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
    """P2: once the longest delay has passed three times over, all that was nacked has been emitted."""
    waiting: dict[Position, int] = {}
    fixed = delay(config, 0) if config.delay_us else 60_000  # to some clients none is the default
    longest = 3 * max(config.backoff_ms or [fixed]) + (2 << config.precision_bits)
    for here in plain(config, steps):
        waiting.update((nacked.position, here.now) for nacked in here.nacked)
        for at, ids, _ in emissions(here.step):
            for ledger, entry in ids:
                if waiting.get((ledger, entry), at + 1) <= at:
                    del waiting[ledger, entry]
        lost = [p for p, made in waiting.items() if made + longest < here.then]
        if here.then > here.now:
            yield here.place, f"{lost[0]} is never emitted" if lost else None


def not_early(config: Config, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
    """P3, NA-14: what is emitted was nacked, and its bucket has been reached."""
    nacked: list[Nacked] = []
    for here in plain(config, steps):
        nacked += here.nacked
        for at, ids, _ in emissions(here.step):
            reached = {n.position for n in nacked if n.bucket <= at}
            wrong = [i for i in ids if tuple(i) not in reached]
            yield here.place, f"{wrong[0]} is emitted more than a bucket early" if wrong else None


def not_late(config: Config, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
    """P4, NA-16: when its instant has passed, an item has been emitted."""
    pending: list[Nacked] = []
    for here in plain(config, steps):
        pending += here.nacked
        for at, ids, _ in emissions(here.step):
            emitted = set(map(tuple, ids))
            pending = [n for n in pending if n.position not in emitted or not n.made <= at <= n.instant]
        if here.then > here.now:
            late = [n for n in pending if n.instant <= here.then]
            yield here.place, f"{late[0].position} is late" if late else None
            pending = [n for n in pending if n.instant > here.then]


def once_a_bucket(config: Config, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
    """P5: an entry is emitted once for each of its buckets, and by one firing for those that are due together."""
    for here, _, taken in firings(config, steps):
        for emission in taken:
            again = emission.unfounded
            yield here.place, f"{again[0]} is emitted once more than its buckets allow" if again else None


def nothing_due_left(config: Config, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
    """P6: after a firing no bucket is left that was due."""
    for here, _, taken in firings(config, steps):
        for emission in taken:
            left = emission.left
            yield here.place, f"{left[0]} is due at {emission.at}, and left" if left else None


def never_empty(config: Config, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
    """P7: the callback is never given nothing."""
    for index, step in enumerate(steps):
        for _, ids, _ in emissions(step):
            yield index, None if ids else "the callback is given no ids"


def armed_while_held(config: Config, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
    """P8: one timeout is armed while something is held, and none else."""
    for index, step in enumerate(steps):
        if len(step.seen) != 2 or isinstance(step.result, dict):
            return
        count, armed = step.seen
        yield index, None if len(armed) == (count > 0) else f"{count} items are held, and {len(armed)} timeouts armed"


def counted_by_bucket(config: Config, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
    """P14: the count is the number of entries, each once for every bucket that it is in."""
    for here, held, _ in firings(config, steps):
        count = here.step.seen[0]
        yield here.place, None if count == held else f"the count is {count}, and {held} items are held"


INVARIANTS: tuple[Invariant, ...] = (
    Invariant("P1", only_nacked),
    Invariant("P2", all_emitted),
    Invariant("NA-14", not_early),
    Invariant("NA-16", not_late),
    Invariant("P5", once_a_bucket),
    Invariant("P6", nothing_due_left),
    Invariant("P7", never_empty),
    Invariant("P8", armed_while_held),
    Invariant("P14", counted_by_bucket),
    Invariant("P16", nothing_left, asked_after(Nack | NackId | Batch | Chunked, Advance | Stale | Close)),
)


# ---- Relations


def shifted(config: Config, operations: Sequence[Operation], choices: Choices) -> tuple[Config, list[Operation]] | None:
    """The same later, by a multiple of every bucket's width."""
    if config.precision_bits > 40:
        return None
    return replace(config, clock=config.clock + SHIFT), list(operations)


def equal_shifted(config: Any, steps: Sequence[Step], other: Any, others: Sequence[Step]) -> bool:
    """Whether all times are moved, and nothing else."""
    return all_moved(steps, others, ms=other.clock - config.clock)


def all_moved(steps: Sequence[Step], others: Sequence[Step], ms: int = 0, entries: int = 0) -> bool:
    """Whether what other steps emitted, counted and armed is the same with times and entries moved."""
    return len(steps) == len(others) and all(
        moved(a.result, ms, entries) == moved(b.result) and (a.seen[0], [at + ms for at in a.seen[1]]) == tuple(b.seen)
        for a, b in zip(steps, others, strict=True)
        if len(a.seen) == 2
    )


def moved(result: Any, ms: int = 0, entries: int = 0) -> Any:
    """Emissions with their times and entries moved."""
    if not isinstance(result, list):
        return result
    return [[at + ms, [(ledger, entry + entries) for ledger, entry in ids], requests] for at, ids, requests in result]


def renamed(config: Config, operations: Sequence[Operation], choices: Choices) -> tuple[Config, list[Operation]] | None:
    """The same with all entries moved."""
    try:
        return config, [entry_moved(operation) for operation in operations]
    except OverflowError:
        return None


def entry_moved(operation: Operation) -> Operation:
    """An operation on the entry a thousand further on; OverflowError if there is no such entry."""
    if not marked(type(operation), POSITION):
        return operation
    last = getattr(operation, "entry", 0) + getattr(operation, "n", 0) * getattr(operation, "step", 0)
    if last >= 2**63 - 2_000:
        raise OverflowError
    return replace(operation, entry=getattr(operation, "entry", 0) + 1_000)


def equal_renamed(config: Any, steps: Sequence[Step], other: Any, others: Sequence[Step]) -> bool:
    """Whether all entries are moved, and nothing else."""
    return all_moved(steps, others, entries=1_000)


def clear(operations: Sequence[Operation]) -> list[Operation]:
    """The operations that are not unclear."""
    return [operation for operation in operations if not unclear(operation)]


def slowly(operations: Sequence[Operation]) -> list[Operation]:
    """The same with steps of a few milliseconds, so that much is held before anything is due."""
    return [replace(o, ms=o.ms % SLOW_MS) if isinstance(o, Advance) else o for o in clear(operations)]


def some_more(
    config: Config, operations: Sequence[Operation], choices: Choices
) -> tuple[Config, list[Operation]] | None:
    """A few nacks more, of an entry of another ledger."""
    more = list(operations)
    for _ in range(one_of(choices, (1, 8))):
        more.insert(choices.below(len(more) + 1), Nack(ELSEWHERE, 1, choices.below(4)))
    return config, more


def another_delay(
    config: Config, operations: Sequence[Operation], choices: Choices
) -> tuple[Config, list[Operation]] | None:
    """Another redelivery count for one nack, and so with a backoff another delay."""
    kept = list(operations)
    found = [i for i, operation in enumerate(kept) if isinstance(operation, Nack)]
    if not found or not config.backoff_ms:
        return None
    at = found[choices.below(len(found))]
    kept[at] = replace(kept[at], redelivery_count=choices.below(len(config.backoff_ms)))
    return config, kept


def lateness(config: Config, steps: Sequence[Step]) -> list[tuple[Position, int | None]]:
    """Each nack's position, and how many milliseconds late it was; None: never emitted."""
    waiting: dict[Position, list[tuple[int, Nacked]]] = {}
    late: dict[int, int] = {}
    made: list[Nacked] = []
    for here in plain(config, steps):
        for i, nacked in enumerate(here.nacked, len(made)):
            waiting.setdefault(nacked.position, []).append((i, nacked))
        made += here.nacked
        for at, ids, _ in emissions(here.step):
            for position in set(map(tuple, ids)):
                nacks = waiting.pop(position, [])
                late.update((i, max(at - n.instant, 0)) for i, n in nacks if n.bucket <= at)
                if left := [(i, n) for i, n in nacks if n.bucket > at]:
                    waiting[position] = left
    return [(n.position, late.get(i)) for i, n in enumerate(made)]


def others(config: Config, steps: Sequence[Step], but: set[Position]) -> list[int | None]:
    """How late the nacks of all but some positions were, in the order in which they were made."""
    return [late for position, late in lateness(config, steps) if position not in but]


def none_later(config: Any, steps: Sequence[Step], other: Any, varied: Sequence[Step]) -> bool:
    """Whether none of the other nacks is later."""
    pairs = zip(others(config, steps, set()), others(other, varied, {(ELSEWHERE, 1)}), strict=False)
    return all(b is not None and b <= a for a, b in pairs if a is not None)


def none_affected(config: Any, steps: Sequence[Step], other: Any, varied: Sequence[Step]) -> bool:
    """Whether the nacks of other positions are exactly as late."""
    differ = {p for a, b in zip(steps, varied, strict=False) if a.operation != b.operation for p in named(a.operation)}
    pairs = zip(others(config, steps, differ), others(other, varied, differ), strict=False)
    return all(a is None or a == b for a, b in pairs)


def one_bit_more(
    config: Config, operations: Sequence[Operation], choices: Choices
) -> tuple[Config, list[Operation]] | None:
    """The same with buckets twice as wide."""
    if config.precision_bits >= 40:
        return None
    return replace(config, precision_bits=config.precision_bits + 1), list(operations)


def nested(config: Any, steps: Sequence[Step], other: Any, varied: Sequence[Step]) -> bool:
    """Whether, until something is emitted, each bucket is one of two that make a wider one."""
    pairs = takewhile(lambda pair: not any(map(emissions, pair)), zip(steps, varied, strict=False))
    return all(b.seen[0] <= a.seen[0] <= 2 * b.seen[0] for a, b in pairs if len(a.seen) == len(b.seen) == 2)


RELATIONS: tuple[Relation, ...] = (
    Relation(
        "shift",
        "With its clock moved by a multiple of every bucket's width, a trace has the same outcomes, moved.",
        shifted,
        equal_shifted,
    ),
    Relation("rename", "With its entries renamed, a trace has its outcomes renamed.", renamed, equal_renamed),
    Relation("P9", "A few more nacks make no other item later.", some_more, none_later, clear),
    Relation("P10", "How late an item is does not depend on another's delay.", another_delay, none_affected, clear),
    Relation("P15", "With one precision bit more, two neighbouring buckets become one.", one_bit_more, nested, slowly),
)
