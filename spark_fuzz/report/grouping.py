"""From findings to entries: one for each subject, profile and rule, with its most frequent shapes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from heapq import nsmallest
from typing import Any, NamedTuple

from broker_tck.spark_fuzz.store.rows import Key

SHAPES = 5
"""Number of shapes of an entry that may be shown."""
Named = tuple[str, str, str]
"""A subject, a profile, and the rules that a diagnosis names, with commas."""
Counts = tuple[int, int]
"""The number of failing walks, and the number of their shapes."""


class Place(NamedTuple):
    """The key of an entry."""

    subject: str
    profile: str
    rule: str


@dataclass(frozen=True)
class Shape:
    """Findings that differ only in their numbers: a row of the store's findings."""

    subject: str
    profile: str
    rules: str
    shape: str
    count: int
    round: int
    shard: int
    walk: str
    length: int

    @property
    def key(self) -> Key:
        """The key of its text in the store."""
        return self.subject, self.profile, self.rules, self.shape


@dataclass(frozen=True)
class Entry:
    """All findings of a subject that one rule accounts for."""

    place: Place
    walks: int
    shapes: int
    shortest: int
    first: int
    """The round in which it was found first."""
    common: tuple[Shape, ...]
    """The most frequent shapes."""


def shapes(findings: Any) -> list[Shape]:
    """The rows of a table of findings."""
    return [*map(Shape, *(findings[field.name].to_pylist() for field in fields(Shape)))]


def entries(findings: Any) -> list[Entry]:
    """Every entry of a table of findings, those of most failing walks first."""
    found = shapes(findings)
    return grouped(found, owners(found))


def grouped(found: Iterable[Shape], owned: Mapping[Named, str]) -> list[Entry]:
    """The entries of findings. ``owned`` says under which rule each is reported, see `owners`."""
    groups: dict[Place, list[Shape]] = defaultdict(list)
    for each in found:
        groups[Place(each.subject, each.profile, owned[each.key[:3]])].append(each)
    return sorted((entry(place, group) for place, group in groups.items()), key=lambda e: (-e.walks, e.place))


def entry(place: Place, group: list[Shape]) -> Entry:
    """An entry, of all its findings."""
    common = nsmallest(SHAPES, group, key=lambda each: (-each.count, each.length, each.shape, each.rules))
    walks, shortest = sum(each.count for each in group), min(each.length for each in group)
    return Entry(place, walks, len(group), shortest, min(each.round for each in group), tuple(common))


def owners(found: Iterable[Shape]) -> dict[Named, str]:
    """The rule under which each list of rules is reported."""
    pairs: dict[tuple[str, str], dict[str, Counts]] = defaultdict(dict)
    for each in found:
        lists = pairs[each.subject, each.profile]
        walks, shapes = lists.get(each.rules, (0, 0))
        lists[each.rules] = walks + each.count, shapes + 1
    return {(*pair, rules): rule for pair, lists in pairs.items() for rules, rule in cover(lists).items()}


def cover(lists: Mapping[str, Counts]) -> dict[str, str]:
    """The fewest rules that account for all lists, greedily: each takes what names it and is not taken yet."""
    taken: dict[str, str] = {}
    while left := {rules: counts for rules, counts in lists.items() if rules not in taken}:
        best = min({rule for rules in left for rule in rules.split(",")}, key=lambda rule: weight(rule, left))
        taken |= {rules: best for rules in left if best in rules.split(",")}
    return taken


def weight(rule: str, lists: Mapping[str, Counts]) -> tuple[int, int, str]:
    """Sorts rules: in most failing walks first, then in most shapes, then by number."""
    naming = [counts for rules, counts in lists.items() if rule in rules.split(",")]
    return -sum(walks for walks, _ in naming), -sum(shapes for _, shapes in naming), rule
