"""The results of a pair's walks in a shard and a round: figures, counted rules and states, and findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from msgspec import structs

from broker_tck.properties.engine.walk import Walk
from broker_tck.properties.search.run import State
from broker_tck.spark_fuzz.store.rows import Row

MOST_FAILING = 24
"""A shard stops walking a pair after this number of failing walks, until the next round."""
MOST_FATAL = 2
"""The same, for walks without an answer. Each of them costs its limit in seconds."""
MOST_ALIKE = 3
"""So many walks that fail alike are reduced, of those with no answer one; the others are counted."""


class Failing(NamedTuple):
    """A walk that failed, or that breaks invariants: which ones, and what was wrong."""

    walk: Walk
    breaches: list[tuple[str, str]]


class Part(NamedTuple):
    """The result of a walk."""

    operations: int
    counted: int
    met: Counter[str]
    met_in: Counter[str]
    states: Counter[State]
    seconds: float
    failing: Failing | None = None


@dataclass
class PairResults:
    """The results of a pair's walks in a shard and round so far."""

    figures: Counter[str] = field(default_factory=Counter)
    met: Counter[str] = field(default_factory=Counter)
    met_in: Counter[str] = field(default_factory=Counter)
    states: Counter[State] = field(default_factory=Counter)
    alike: dict[Any, list[tuple[str, str]]] = field(default_factory=dict)
    """The rules and the shape of the finding of walks that fail alike."""
    fatal: int = 0
    seconds: float = 0.0
    findings: dict[tuple[str, str], Row] = field(default_factory=dict)

    def add(self, part: Part) -> None:
        """Add the result of a walk."""
        self.seconds += part.seconds
        self.figures.update(walks=1, operations=part.operations, counted=part.counted)
        if part.counted:
            self.met.update(part.met)
            self.met_in.update(part.met_in)
            self.states.update(part.states)

    def keep(self, alike: Any, make: Callable[[], Row]) -> None:
        """Make a finding; if enough like it are known, count it with the first of them."""
        found = self.alike.setdefault(alike, [])
        if len(found) >= (1 if self.fatal else MOST_ALIKE):
            first = self.findings[found[0]]
            self.findings[found[0]] = structs.replace(first, count=first.count + 1)
            return
        row = make()
        found.append((row.name, row.key))
        known = self.findings.get((row.name, row.key))
        best = row if known is None or row.length < known.length else known
        self.findings[row.name, row.key] = structs.replace(best, count=row.count + (known.count if known else 0))

    @property
    def over(self) -> bool:
        """Whether enough walks failed."""
        return self.figures["failing"] >= MOST_FAILING or self.fatal >= MOST_FATAL
