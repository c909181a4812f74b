"""The page of the points at which a broker can crash, with how often walks come there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any

from crash_conditions import CRASH_POINTS, IN_TIME, CrashPoints

from broker_tck.model.reference import Fault
from broker_tck.properties.engine.choices import SeededChoices
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.walk import OPERATIONS, generated, walk_seed

WALKS = 1_000


def page() -> Iterator[str]:
    """Each point with what is half done, and in how many walks it comes up."""
    sentences = {**{number: text for number, (text, _) in CRASH_POINTS.items()}, **IN_TIME}
    met = met_in()
    yield from ("# Crash points", "")
    yield f"A broker can crash in the middle of each of these. The last column says in how many of {WALKS:,} walks it"
    yield "does. The kit compares what the next tracker recovers with the specification. At C21 the tracker is closed"
    yield "and does not crash. C20, a cursor whose subscription ends without a tracker, is not part of the contract."
    yield from ("", "| point | what was done | walks |", "| --- | --- | ---: |")
    yield from (f"| {number} | {sentences[number]} | {met[number]} |" for number in sorted(sentences, key=place))


def place(number: str) -> int:
    """Sorts the points."""
    return int(number[1:])


def met_in() -> Counter[str]:
    """In how many walks each point comes up, on the specification alone."""
    contract = CONTRACTS["bucket-delivery"]
    met: Counter[str] = Counter()
    for number in range(WALKS):
        choices, capabilities, points = SeededChoices(walk_seed(0, number)), contract.capabilities(), CrashPoints()
        model: Any = contract.specification(contract.configured(choices, capabilities))
        found: set[str] = set()
        body = generated(contract, model, choices, capabilities, OPERATIONS)
        for operation in chain(body, contract.ending(model, choices, capabilities)):
            found |= points.at(model, operation)
            try:
                operation.on(model)
            except Fault:
                continue
        met.update(found)
    return met
