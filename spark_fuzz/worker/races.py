"""Races in a shard: a range of the programs of a seed. It is the same range wherever and however often it is tried."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from time import perf_counter
from typing import Any

import msgspec

from broker_tck.model.reference import Reference
from broker_tck.properties.engine.operation import shape
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.errors import Failed
from broker_tck.properties.report.threads import race_result
from broker_tck.properties.search.isolation.apart import asked_apart
from broker_tck.properties.search.isolation.guard import FREE, End, Tell
from broker_tck.properties.search.isolation.unloaded import resolve_unloaded
from broker_tck.properties.threads.program import Program
from broker_tck.properties.threads.races import java_of, search_races, shorter_races
from broker_tck.properties.threads.search import Budget
from broker_tck.spark_fuzz.driver.manifest import RACES, Manifest, Pair
from broker_tck.spark_fuzz.store.rows import FIGURE, FINDING, Row


def race_rows(manifest: Manifest, pair: Pair, numbers: range, parent: Any = None) -> Iterator[Row]:
    """The rows of a pair: its figures, and the least race of each promise. Raises Failed if its process ends."""
    subject, began, at = resolve_unloaded(pair.subject), perf_counter(), numbers.start

    def told(programs: int) -> None:
        nonlocal at
        at = numbers.start + programs

    assert manifest.threads
    search = partial(rows_of, subject.contract.model(pair.profile), manifest.threads, manifest.seed, numbers.start)
    found = asked_apart(subject, search, FREE, told, parent)
    if isinstance(found, End):
        where = f"at program {at}" if at in numbers else "while a race was made shorter"
        raise Failed(f"{pair.subject}: {found.message}, {where}")
    yield Row(FIGURE, pair.subject, pair.profile, "milliseconds", count=round(1000 * (perf_counter() - began)))
    yield from found


def rows_of(model: type[Reference], budget: Budget, seed: int, first: int, subject: Subject, tell: Tell) -> list[Row]:
    """Search races in the subject's process."""
    found = shorter_races(search_races(subject, model, budget, seed, lambda so_far, _: tell(so_far.programs), first))
    head = subject.name, model.PROFILE
    rows = [Row(FIGURE, *head, name, count=getattr(found, name)) for name in (*RACES, "failing")]
    for promise, race in found.races.items():
        result = race_result(subject, model, java_of(subject).explorer, race.program, race.seen.schedule)
        numbers, like = found.breaking[promise], f"{shape_of(race.program)} [{result.rule}]"
        text, length = msgspec.json.encode(result).decode(), len(race.program.operations)
        rows.append(Row(FINDING, *head, promise.short, like, len(numbers), str(numbers[0]), length, text))
    return rows


def shape_of(program: Program) -> str:
    """What a program is like: the shape of its operations, in its parts."""
    words = iter(shape(program.operations).split("; "))
    return " | ".join("; ".join(islice(words, len(of))) for of in (program.before, *program.threads, program.after))


def programs_of(manifest: Manifest, round_number: int, shard: int) -> range:
    """The numbers of the programs that a shard of a round tries on each pair; no two shards have one in common."""
    first = (round_number * manifest.shards + shard) * manifest.programs
    return range(first, first + manifest.programs)
