"""Reducing rows: those of a round's shards to one for all that are alike, and findings of many rounds likewise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from broker_tck.spark_fuzz.store.rows import FINDING, FINDINGS, KEYS, ROWS, arrow_schema, names

if TYPE_CHECKING:
    import pyarrow as pa

MOST_SHAPES = 3
"""Of the findings of a lane that name the same rules, a round keeps so many shapes; those left are counted together."""
OTHERS = ""
"""The shape of those that are left."""
FIRST, SHORTEST = ("round", "shard", "walk"), ("length", "text")
Found = dict[str, Any]


def reduced(rows: pa.Table) -> pa.Table:
    """The rows of a round, one for all that have their keys in common; the same whatever was reduced before."""
    import pyarrow as pa
    import pyarrow.compute as pc

    is_finding = pc.equal(rows["kind"], FINDING)
    others = rows.filter(pc.invert(is_finding)).group_by(list(KEYS))
    counted = others.aggregate([("count", "sum"), *((name, "min") for name in ("walk", "length", "text", "shard"))])
    found = alike(pooled(rows.filter(is_finding).to_pylist()), KEYS)
    kept = pa.Table.from_pylist(found, rows.schema)
    return pa.concat_tables([counted.rename_columns(names(ROWS)).cast(rows.schema), kept]).sort_by(
        [(key, "ascending") for key in KEYS]
    )


def alike(findings: Iterable[Found], keys: Iterable[str]) -> list[Found]:
    """Findings with the same keys as one: how many, where first, and the shortest trace."""
    groups: dict[tuple[Any, ...], list[Found]] = defaultdict(list)
    for row in findings:
        groups[tuple(row[key] for key in keys)].append(row)
    return [together(group) for group in groups.values()]


def together(group: list[Found]) -> Found:
    """One row for several."""

    def least(columns: Iterable[str]) -> Found:
        return min(group, key=lambda row: tuple(row[name] for name in columns if name in row))

    first, short = least(FIRST), least(SHORTEST)
    where = {name: first[name] for name in FIRST if name in first}
    return {**short, **where, "count": sum(row["count"] for row in group)}


def rank(shape: str) -> tuple[bool, bool, int, str]:
    """Sorts shapes: short ones first, then those of traces that were not reduced, then those that are left.

    A shape's rank depends on nothing else, so it makes no difference whether parts of a round were reduced before.
    """
    return shape == OTHERS, not shape.endswith("]"), len(shape), shape


def pooled(findings: list[Found]) -> list[Found]:
    """Findings, those of a lane and rules that are of other than the first shapes with the shape that all these get."""
    shapes: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for row in findings:
        shapes[row["subject"], row["profile"], row["name"]].add(row["key"])
    kept = {of: sorted(keys, key=rank)[:MOST_SHAPES] for of, keys in shapes.items()}
    return [
        row if row["key"] in kept[row["subject"], row["profile"], row["name"]] else {**row, "key": OTHERS}
        for row in findings
    ]


def merged_findings(findings: pa.Table) -> pa.Table:
    """Findings of many rounds, one row for all that are alike; the columns are those that were given."""
    import pyarrow as pa

    schema = pa.schema([field for field in arrow_schema(FINDINGS) if field.name in findings.column_names])
    found = alike(findings.to_pylist(), ("subject", "profile", "rules", "shape"))
    ordered = sorted(found, key=lambda row: (row["subject"], row["profile"], row["rules"], row["shape"]))
    return pa.Table.from_pylist(ordered, schema)
