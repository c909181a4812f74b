"""From findings to entries: one for each subject, profile and rule, with its most frequent shapes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from broker_tck.spark_fuzz.report.source import Key

SHAPES = 5
"""So many shapes of an entry are looked at closely."""
COLUMNS = pa.schema(
    [
        *((name, pa.string()) for name in ("subject", "profile", "rules", "shape", "walk")),
        *((name, pa.int64()) for name in ("count", "round", "shard", "length")),
    ]
)
LISTS = ["subject", "profile", "rules"]
ENTRY = ["subject", "profile", "rule"]
ORDER = [*((name, "ascending") for name in ENTRY), ("count", "descending")] + [
    (name, "ascending") for name in ("length", "shape", "rules")
]


class Place(NamedTuple):
    """Where an entry belongs."""

    subject: str
    profile: str
    rule: str


@dataclass(frozen=True)
class Shape:
    """Findings that are alike but for their numbers."""

    key: Key
    count: int
    round: int
    shard: int
    walk: str
    length: int

    @property
    def rules(self) -> list[str]:
        """The rules that the diagnosis names."""
        return self.key[2].split(",")


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


class Listed(NamedTuple):
    """How often the diagnosis named exactly these rules."""

    rules: str
    walks: int
    shapes: int


def owners(findings: Any) -> dict[tuple[str, str, str], str]:
    """The rule that each list of rules is told under, by subject, profile and list."""
    table = findings.group_by(LISTS).aggregate([("count", "sum"), ("count", "count")])
    lanes: dict[tuple[str, str], list[Listed]] = {}
    for row in table.to_pylist():
        listed = Listed(row["rules"], row["count_sum"], row["count_count"])
        lanes.setdefault((row["subject"], row["profile"]), []).append(listed)
    return {(*lane, rules): rule for lane, lists in lanes.items() for rules, rule in cover(lists).items()}


def cover(lists: Sequence[Listed]) -> dict[str, str]:
    """The fewest rules that account for all lists, greedily: each takes what names it and is not taken yet."""
    taken: dict[str, str] = {}
    left = list(lists)
    while left:
        best = min({rule for each in left for rule in each.rules.split(",")}, key=lambda rule: weight(rule, left))
        taken |= {each.rules: best for each in left if best in each.rules.split(",")}
        left = [each for each in left if each.rules not in taken]
    return taken


def weight(rule: str, lists: Iterable[Listed]) -> tuple[int, int, str]:
    """Sorts rules: in most failing walks first, then in most shapes, then by number."""
    naming = [each for each in lists if rule in each.rules.split(",")]
    return -sum(each.walks for each in naming), -sum(each.shapes for each in naming), rule


def entries(findings: Any, owned: Mapping[tuple[str, str, str], str] | None = None) -> list[Entry]:
    """Every entry, those of most failing walks first; ``owned`` is what several campaigns agreed on."""
    if not findings.num_rows:
        return []
    table = ruled(findings, owners(findings) if owned is None else owned).sort_by(ORDER)
    table = table.append_column("at", pa.array(range(table.num_rows), pa.int64()))
    sums = [("count", "sum"), ("count", "count"), ("length", "min"), ("round", "min"), ("at", "min")]
    groups = table.group_by(ENTRY).aggregate(sums).to_pylist()
    return sorted((entry(table, group) for group in groups), key=lambda e: (-e.walks, e.place))


def ruled(findings: Any, owned: Mapping[tuple[str, str, str], str]) -> Any:
    """The findings with the rule that each is told under."""
    columns = [*zip(*owned, strict=True), owned.values()]
    rules = pa.table([pa.array(column, pa.string()) for column in columns], names=[*LISTS, "rule"])
    return findings.select(COLUMNS.names).cast(COLUMNS).join(rules, keys=LISTS, join_type="inner")


def entry(table: Any, group: Mapping[str, Any]) -> Entry:
    """An entry, from the sorted findings and the sums of its own."""
    rows = table.slice(group["at_min"], min(SHAPES, group["count_count"])).to_pylist()
    common = tuple(shape(row) for row in rows)
    place = Place(group["subject"], group["profile"], group["rule"])
    return Entry(place, group["count_sum"], group["count_count"], group["length_min"], group["round_min"], common)


def shape(row: Mapping[str, Any]) -> Shape:
    """A shape, of a row of the findings."""
    key = row["subject"], row["profile"], row["rules"], row["shape"]
    return Shape(key, row["count"], row["round"], row["shard"], str(row["walk"]), row["length"])
