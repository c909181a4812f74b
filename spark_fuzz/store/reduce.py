"""Reducing the rows of a round's shards: one for all that are alike."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from broker_tck.spark_fuzz.store.rows import FINDING, KEYS, ROWS, names

if TYPE_CHECKING:
    import pyarrow as pa

MOST_SHAPES = 3
"""Number of shapes that a round keeps for a pair and a list of rules; findings of other shapes are counted together."""
OTHERS = ""
"""The shape of the others."""
Found = dict[str, Any]


def reduced(rows: pa.Table) -> pa.Table:
    """The rows of a round, one for all that have their keys in common; the same whatever was reduced before."""
    import pyarrow as pa
    import pyarrow.compute as pc

    is_finding = pc.equal(rows["kind"], FINDING)
    others = rows.filter(pc.invert(is_finding)).group_by(list(KEYS))
    counted = others.aggregate([("count", "sum"), *((name, "min") for name in ("walk", "length", "text", "shard"))])
    groups: dict[tuple[str, ...], list[Found]] = defaultdict(list)
    for row in pooled(rows.filter(is_finding).to_pylist()):
        groups[tuple(row[key] for key in KEYS)].append(row)
    found = pa.Table.from_pylist([*map(together, groups.values())], rows.schema)
    return pa.concat_tables([counted.rename_columns(names(ROWS)).cast(rows.schema), found]).sort_by(
        [(key, "ascending") for key in KEYS]
    )


def together(group: list[Found]) -> Found:
    """Findings that are alike as one: how many, where first, and the shortest trace."""
    first = min(group, key=lambda row: (row["shard"], row["walk"]))
    shortest = min(group, key=lambda row: (row["length"], row["text"]))
    count = sum(row["count"] for row in group)
    return {**shortest, "shard": first["shard"], "walk": first["walk"], "count": count}


def rank(shape: str) -> tuple[bool, bool, int, str]:
    """Sorts shapes: short ones first, then those of traces that were not reduced, then those that are left.

    A shape's rank depends on nothing else, so it makes no difference whether parts of a round were reduced before.
    """
    return shape == OTHERS, not shape.endswith("]"), len(shape), shape


def pooled(findings: list[Found]) -> list[Found]:
    """Findings, those of a pair and rules that are of other than the first shapes with the shape that all these get."""
    shapes: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for row in findings:
        shapes[row["subject"], row["profile"], row["name"]].add(row["key"])
    kept = {(*of, key) for of, keys in shapes.items() for key in sorted(keys, key=rank)[:MOST_SHAPES]}
    return [row if tuple(row[key] for key in KEYS[1:]) in kept else {**row, "key": OTHERS} for row in findings]
