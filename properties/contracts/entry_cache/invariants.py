"""What holds of the entry caches whatever the model says: judged on what was observed alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Any

from msgspec.structs import replace

from broker_tck.model.entry_cache.entries import Position
from broker_tck.properties.contracts.entry_cache.operations import (
    CACHES,
    Advance,
    Background,
    Begin,
    Clear,
    Config,
    EvictOld,
    EvictSize,
    Expect,
    Extend,
    Fill,
    Free,
    Get,
    Hold,
    Invalidate,
    Late,
    Put,
    Range,
    Read,
    Remove,
    Reopen,
    Run,
    SizeOfAll,
    Spoil,
    Trim,
)
from broker_tck.properties.contracts.entry_cache.reading import (
    Answers,
    Done,
    Fetch,
    FetchMany,
    FetchOne,
    Permits,
    ReadingOperation,
)
from broker_tck.properties.engine.choices import Choices
from broker_tck.properties.engine.contract import Invariant, Relation, Step
from broker_tck.properties.engine.following import StillThere, asked_after, nothing_left
from broker_tck.properties.engine.operation import Operation

Judged = Iterator[tuple[int, str | None]]
Sizes = list[list[int]]
"""Entries and bytes of each cache."""
Key = tuple[int, int, int]
"""Topic, ledger and entry."""

EMPTY: Sizes = [[0, 0]] * CACHES

BESIDES = Begin | ReadingOperation
"""With these, more goes on than what each operation says: calls overlap, and readers hold what they were given."""


def told(steps: Sequence[Step]) -> Iterator[tuple[int, Step, Sizes, Sizes]]:
    """Each step with the sizes before it and after, up to :data:`BESIDES`, or to where the caches cannot be seen."""
    before = EMPTY
    for index, step in enumerate(steps):
        if len(step.seen) != 2 or isinstance(step.operation, BESIDES):
            return
        yield index, step, before, step.seen[0]
        before = step.seen[0]


def is_late(step: Step) -> bool:
    """Whether an entry went to a cache that was left, where it is not seen."""
    return isinstance(step.operation, Late) and step.result is True


def unspoiled(steps: Sequence[Step]) -> list[Step]:
    """The steps before somebody lets go of a value once too often: what that does to sizes is the model's to judge."""
    return [*takewhile(lambda step: not (isinstance(step.operation, Spoil) and step.result), steps)]


def inserted(step: Step) -> list[Put]:
    """What was inserted for sure: of many insertions, all of them or nothing."""
    operation = step.operation
    if isinstance(operation, Fill):
        return [*operation.puts()] if step.result == operation.n else []
    return [operation] if isinstance(operation, Put) and step.result is True else []


def key(operation: Put | Read | Expect) -> Key:
    """What an operation names."""
    return operation.cache, operation.ledger, operation.entry


def sizes_add_up(config: Config, steps: Sequence[Step]) -> Judged:
    """P1, EC-01: a cache without entries has no bytes, and the broker's size is that of its caches.

    The latter as long as none was left behind with entries, both as long as nobody lets go once too often.
    """
    late = False
    for index, step, _, after in told(unspoiled(steps)):
        late = late or is_late(step)
        bytes_of_nothing = [cache[1] for cache in after if cache[1] and not cache[0]]
        yield index, f"a cache without entries has {bytes_of_nothing[0]} bytes" if bytes_of_nothing else None
        if isinstance(step.operation, SizeOfAll) and not late:
            size = sum(cache[1] for cache in after)
            yield index, None if step.result == size else f"the caches have {size} bytes, the broker {step.result}"


def removed_is_gone(config: Config, steps: Sequence[Step]) -> Judged:
    """EC-12: what a removal says that it removed is what is gone, of the cache that was named and of no other.

    As long as nobody lets go once too often.
    """
    late = False
    for index, step, before, after in told(unspoiled(steps)):
        operation = step.operation
        late = late or is_late(step)
        gone = [[a - b for a, b in zip(*pair, strict=True)] for pair in zip(before, after, strict=True)]
        if isinstance(operation, Remove | Clear | Invalidate | Trim | Reopen):
            elsewhere = [n for number, n in enumerate(gone) if number != operation.cache and n != [0, 0]]
            yield index, f"{elsewhere[0]} is gone from another cache" if elsewhere else None
            said = step.result if isinstance(operation, Remove | Clear) else gone[operation.cache]
            yield index, differing(said, gone[operation.cache])
        elif isinstance(operation, EvictOld | EvictSize) and isinstance(step.result, list) and not late:
            yield index, differing(step.result, [sum(part) for part in zip(*gone, strict=True)])


def differing(said: object, gone: list[int]) -> str | None:
    """How what a removal said differs from what is gone."""
    return None if said == gone and min(gone) >= 0 else f"the cache reports {said} as removed, but {gone} are gone"


def references_are_cached_or_held(config: Config, steps: Sequence[Step]) -> Judged:
    """P3: as long as nobody lets go once too often, every cached value is referred to, and no other but held ones."""
    held = 0
    for index, step, _, after in told(unspoiled(steps)):
        if is_late(step):
            return
        held += isinstance(step.operation, Hold) and step.result == "hit"
        held -= isinstance(step.operation, Free) and step.result is True
        cached, references = sum(cache[0] for cache in after), step.seen[1]
        kept = cached <= references <= cached + held
        yield index, None if kept else f"{cached} values are cached, {held} held, {references} have references"


def young_ones_stay(config: Config, steps: Sequence[Step]) -> Judged:
    """P4: what a time pass need not remove, and nothing else has, is cached after it."""
    now = 0
    sure: list[dict[Position, int]] = [{} for _ in range(CACHES)]
    for index, step, _, after in told(steps):
        operation = step.operation
        for put in inserted(step):
            sure[put.cache][put.ledger, put.entry] = now
        if isinstance(operation, Advance):
            now += operation.ms
        elif isinstance(operation, Remove | Clear | Invalidate | Trim | Reopen):
            sure[operation.cache].clear()
        elif isinstance(operation, EvictSize | Background | Run):
            sure = [{} for _ in range(CACHES)]
        elif isinstance(operation, EvictOld):
            threshold = now - operation.age
            sure = [{p: at for p, at in cache.items() if at >= threshold} for cache in sure]
            lost = [len(young) - cache[0] for young, cache in zip(sure, after, strict=True)]
            yield index, f"{max(lost)} young entries are gone" if max(lost) > 0 else None


def all_or_enough(config: Config, steps: Sequence[Step]) -> Judged:
    """P6: a size pass that removes less than it was asked for leaves nothing."""
    for index, step, _, after in told(steps):
        if isinstance(step.operation, EvictSize) and isinstance(step.result, list):
            left = sum(cache[0] for cache in after)
            if step.result[1] < step.operation.bytes:
                yield index, f"{step.result[1]} bytes were removed, and {left} entries left" if left else None


def no_entry_too_many(config: Config, steps: Sequence[Step]) -> Judged:
    """P7: a size pass removes less than an entry more than it was asked for."""
    largest = 0
    for index, step, _, _ in told(steps):
        operation = step.operation
        if isinstance(operation, Put | Late) and step.result is True:
            largest = max(largest, operation.size)
        elif isinstance(operation, Fill):
            largest = max(largest, operation.size + operation.n * operation.apart)
        elif isinstance(operation, EvictSize) and isinstance(step.result, list):
            over = step.result[1] - operation.bytes
            if over >= 0:
                yield index, f"{over} bytes too many were removed" if over >= largest else None


def counts_add_up(config: Config, steps: Sequence[Step]) -> Judged:
    """P12: a count is its start with one more for each increment and one less for each read.

    What was one of many insertions, of which some were refused, is not judged.
    """
    counts: dict[Key, int | None] = {}
    unsure: set[Key] = set()
    for index, step, _, _ in told(steps):
        operation = step.operation
        starts = {key(put): put.expected_reads if put.expected_reads > 0 else None for put in inserted(step)}
        counts.update(starts)
        unsure.difference_update(starts)
        if isinstance(operation, Fill) and not starts:
            unsure.update(map(key, operation.puts()))
        elif isinstance(operation, Read | Expect) and key(operation) not in unsure:
            count = counts.get(key(operation))
            if count is not None:
                counts[key(operation)] = count = count + (1 if isinstance(operation, Expect) else -1)
            due = "none" if count is None else count
            yield index, None if step.result == due else f"the count is {step.result}, and {due} by what was done"


def reads_answer_for_their_own(config: Config, steps: Sequence[Step]) -> Judged:
    """IL-4: a read that was begun answers with a hit, or a miss, and with no other position."""
    for index, step in enumerate(steps):
        if step.operation.tag == "step" and isinstance(step.result, list) and step.result[0] == "ends":
            answer = step.result[1]
            if isinstance(answer, str):
                yield index, None if answer in ("hit", "miss") else f"the read is a {answer}"


class Readers:
    """Who awaits an answer, and who holds what it was given, by number."""

    def __init__(self) -> None:
        self.begun = 0
        self.again: set[int] = set()
        self.awaited: set[int] = set()
        self.holding: set[int] = set()

    def begin(self, again: bool = False) -> None:
        """One more reader."""
        self.begun += 1
        self.awaited.add(self.begun)
        if again:
            self.again.add(self.begun)

    def see(self, step: Step) -> None:
        """What an operation made of them."""
        if isinstance(step.operation, Fetch | FetchOne):
            self.begin(isinstance(step.operation, Fetch) and bool(step.operation.again))
        if isinstance(step.operation, FetchMany):
            for _ in range(step.operation.times):
                self.begin()
        if isinstance(step.operation, Done) and self.holding:
            self.holding.remove(sorted(self.holding)[step.operation.i % len(self.holding)])
        told = {event[1]: event[0] for event in step.result if event[0] in ("answers", "fails")}
        for _ in self.again.intersection(told):
            self.begin()
        self.awaited.difference_update(told)
        self.holding.update(number for number, how in told.items() if how == "answers")


def permits_come_back(config: Config, steps: Sequence[Step]) -> Judged:
    """EC-P17: what is left of the limit is never below 0, and is all of it when nobody awaits or holds anything."""
    readers, limit = Readers(), config.max_reads_in_flight
    for index, step in enumerate(steps):
        if isinstance(step.result, dict) or isinstance(step.operation, Begin):
            return
        if isinstance(step.operation, Answers):
            readers.see(step)
        elif isinstance(step.operation, Permits) and limit:
            if not 0 <= step.result <= limit:
                yield index, f"{step.result} bytes are left of {limit}"
            elif not (readers.awaited or readers.holding):
                yield index, None if step.result == limit else f"nobody reads, and {step.result} of {limit} are left"


class NothingCached(StillThere, frozen=True, tag="still_there"):
    """Ask for the ids that are still there, if nothing is cached and no value has a reference."""

    def holds_nothing(self, seen: tuple[Any, ...]) -> bool:
        """Whether, by what is seen, no cache has entries and no value a reference."""
        return type(seen[1]) is int and seen == (EMPTY, 0)


REMOVING = Remove | Invalidate | Trim | Clear | Reopen | EvictOld | EvictSize | Run | Background | Free | Done
"""After these, nothing may be held any more."""
ASKED = asked_after(Put | Late, REMOVING, NothingCached)


def asked_while_whole(operations: Sequence[Operation]) -> list[Operation]:
    """The same up to a call in steps, which holds what it works on, or to a value that is let go of too often."""
    return ASKED([*takewhile(lambda operation: not isinstance(operation, Begin | Spoil), operations)])


INVARIANTS: tuple[Invariant, ...] = (
    Invariant("EC-01", sizes_add_up),
    Invariant("EC-12", removed_is_gone),
    Invariant("EC-P3", references_are_cached_or_held),
    Invariant("EC-P4", young_ones_stay),
    Invariant("EC-P6", all_or_enough),
    Invariant("EC-P7", no_entry_too_many),
    Invariant("EC-P12", counts_add_up),
    Invariant("EC-P17", permits_come_back),
    Invariant("EC-P18", nothing_left, asked_while_whole),
    Invariant("IL-4", reads_answer_for_their_own),
)


# ---- Relations

Varied = tuple[Config, list[Operation]] | None


def other_topics(config: Config, operations: Sequence[Operation], choices: Choices) -> Varied:
    """The same with each topic in the place of the next."""
    return config, [
        replace(o, cache=(getattr(o, "cache", 0) + 1) % CACHES) if "cache" in o.__struct_fields__ else o
        for o in operations
    ]


def turned(config: Config, steps: Sequence[Step], other: Config, others: Sequence[Step]) -> bool:
    """Whether the caches have changed places, and nothing else."""
    return len(steps) == len(others) and all(
        a.result == b.result and (len(a.seen) != 2 or ([a.seen[0][-1], *a.seen[0][:-1]], a.seen[1]) == b.seen)
        for a, b in zip(steps, others, strict=True)
    )


def plain_part(operations: Sequence[Operation]) -> list[Operation]:
    """The operations before the first of :data:`BESIDES`."""
    return [*takewhile(lambda o: not isinstance(o, BESIDES), operations)]


def without_extending(operations: Sequence[Operation]) -> list[Operation]:
    """Of these, all but those that set whether access extends a life."""
    return [o for o in plain_part(operations) if not isinstance(o, Extend)]


def unread(config: Config, operations: Sequence[Operation], choices: Choices) -> Varied:
    """The same without what reads and lets go at once, where access extends nothing."""
    kept = [o for o in operations if not isinstance(o, Get | Range)]
    return None if config.extend_ttl_of_recently_accessed or len(kept) == len(operations) else (config, kept)


def others_alike(config: Config, steps: Sequence[Step], other: Config, others: Sequence[Step]) -> bool:
    """Whether all that is left comes out as before."""
    kept = [s for s in steps if not isinstance(s.operation, Get | Range)]
    return [step[1:] for step in kept] == [step[1:] for step in others]


def with_twins(
    kind: type[Operation], twin: Callable[[Any], Operation]
) -> Callable[[Config, Sequence[Operation], Choices], Varied]:
    """The same with each operation of a kind followed by its twin."""

    def vary(config: Config, operations: Sequence[Operation], choices: Choices) -> Varied:
        pairs = [(o, twin(o)) if isinstance(o, kind) else (o,) for o in operations]
        return (config, [o for pair in pairs for o in pair]) if max(map(len, pairs), default=1) > 1 else None

    return vary


def made_otherwise(put: Put) -> Put:
    """The insertion with another size and other reads."""
    return replace(put, size=abs(put.size - 1), expected_reads=3)


def twins_do_nothing(kind: type[Operation]) -> Callable[[Config, Sequence[Step], Config, Sequence[Step]], bool]:
    """Whether, where operations of a kind were doubled, all comes out as before, and no twin changes what is seen."""

    def equal(config: Config, steps: Sequence[Step], other: Config, others: Sequence[Step]) -> bool:
        rest = iter(others)
        for step in steps:
            if next(rest)[1:] != step[1:]:
                return False
            if isinstance(step.operation, kind):
                twin = next(rest)
                if twin.result or twin.seen != step.seen:
                    return False
        return True

    return equal


RELATIONS: tuple[Relation, ...] = (
    Relation(
        "topics",
        "With its topics in other places, a trace has the same outcomes there.",
        other_topics,
        turned,
        plain_part,
    ),
    Relation(
        "EC-P9",
        "Where access extends no life, reads that let go at once change nothing else.",
        unread,
        others_alike,
        without_extending,
    ),
    Relation(
        "EC-P10",
        "An insertion that is refused changes nothing.",
        with_twins(Put, made_otherwise),
        twins_do_nothing(Put),
        plain_part,
    ),
    Relation(
        "EC-P11",
        "To invalidate twice is to invalidate.",
        with_twins(Invalidate, lambda invalidate: invalidate),
        twins_do_nothing(Invalidate),
        plain_part,
    ),
)
