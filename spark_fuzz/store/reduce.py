"""Reducing rows: those of a round's shards to one for all that are alike, and findings of many rounds likewise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from broker_tck.spark_fuzz.store.rows import FINDING, FINDINGS, KEYS, ROWS, arrow_schema, names

if TYPE_CHECKING:
    import pyarrow as pa

MOST_SHAPES = 3
"""Of the findings of a lane that name the same rules, a round keeps so many shapes, the shortest; it counts the others
with the first of these."""
FIRST, SHORTEST = ("round", "shard", "walk"), ("length", "round", "shard", "walk", "text")
Found = dict[str, Any]


def reduced(rows: pa.Table) -> pa.Table:
    """The rows of a round, one for all that have their keys in common; the same whatever was reduced before."""
    import pyarrow as pa
    import pyarrow.compute as pc

    is_finding = pc.equal(rows["kind"], FINDING)
    others = rows.filter(pc.invert(is_finding)).group_by(list(KEYS))
    counted = others.aggregate([("count", "sum"), *((name, "min") for name in ("walk", "length", "text", "shard"))])
    found = alike(rows.filter(is_finding).to_pylist(), KEYS)
    kept = pa.Table.from_pylist(shortest(found), rows.schema)
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


def shortest(findings: Iterable[Found]) -> list[Found]:
    """The shortest findings of each lane and rules; the first counts those that are left out."""
    groups: dict[tuple[str, ...], list[Found]] = defaultdict(list)
    for row in sorted(findings, key=lambda row: (row["length"], row["key"])):
        groups[row["subject"], row["profile"], row["name"]].append(row)
    kept = []
    for first, *others in groups.values():
        left_out = sum(row["count"] for row in others[MOST_SHAPES - 1 :])
        kept += [{**first, "count": first["count"] + left_out}, *others[: MOST_SHAPES - 1]]
    return kept


def merged_findings(findings: pa.Table) -> pa.Table:
    """Findings of many rounds, one row for all that are alike; the columns are those that were given."""
    import pyarrow as pa

    schema = pa.schema([field for field in arrow_schema(FINDINGS) if field.name in findings.column_names])
    found = alike(findings.to_pylist(), ("subject", "profile", "rules", "shape"))
    ordered = sorted(found, key=lambda row: (row["subject"], row["profile"], row["rules"], row["shape"]))
    return pa.Table.from_pylist(ordered, schema)
