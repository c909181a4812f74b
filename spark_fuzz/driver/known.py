"""The states and the shapes of findings that a campaign has reached so far. Each round adds to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from broker_tck.spark_fuzz.store.reduce import MOST_SHAPES, rank
from broker_tck.spark_fuzz.store.rows import (
    FIGURES,
    FINDING,
    FINDINGS,
    KEYS,
    NEW_FINDINGS,
    NEW_STATES,
    PAIR,
    ROUND,
    SHAPE,
    STATE,
    arrow_schema,
    names,
)

if TYPE_CHECKING:
    import pyarrow as pa

ID = KEYS[1:]
"""The columns that name a state."""
Found = dict[str, Any]


class Known:
    """The states and shapes that whole rounds have reached; its size depends on them, not on the rounds."""

    def __init__(self, states: pa.Table, findings: pa.Table) -> None:
        self.states = states.select(list(ID))
        self.lengths: dict[tuple[str, ...], dict[str, int]] = defaultdict(dict)
        """The shapes of each pair and rules, and the operations of their shortest traces."""
        for row in findings.to_pylist():
            self.lengths[row["subject"], row["profile"], row["rules"]][row["shape"]] = row["length"]

    def merged(self, number: int, rows: pa.Table, seconds: float) -> dict[str, pa.Table]:
        """Take in the reduced rows of a round, and return what it adds to each table of the store."""
        import pyarrow as pa
        import pyarrow.compute as pc

        states = numbered(number, self.new_states(rows.filter(pc.equal(rows["kind"], STATE))))
        found, new = self.new_findings(rows.filter(pc.equal(rows["kind"], FINDING)).to_pylist())
        columns = arrow_schema(FINDINGS).remove(0)
        findings, shapes = (numbered(number, pa.Table.from_pylist(each, columns)) for each in (found, new))
        counts = rows.filter(pc.invert(pc.is_in(rows["kind"], pa.array([STATE, FINDING])))).select(names(FIGURES)[1:])
        took = {"kind": ROUND, "name": "milliseconds", "count": round(1000 * seconds)}
        time = pa.Table.from_pylist([dict.fromkeys(counts.column_names, "") | took], counts.schema)
        figures = [numbered(number, pa.concat_tables([counts, time]))]
        figures += [reached(NEW_STATES, states), reached(NEW_FINDINGS, shapes)]
        return {"states": states, "findings": findings, "figures": pa.concat_tables(figures)}

    def new_states(self, rows: pa.Table) -> pa.Table:
        """The states that were not known, in a fixed order; they are known from now on."""
        import pyarrow as pa

        new = rows.select(list(ID)).join(self.states, list(ID), join_type="left anti")
        new = new.select(list(ID)).sort_by([(name, "ascending") for name in ID])
        if len(new):
            self.states = pa.concat_tables([self.states, new]).combine_chunks()
        return new

    def new_findings(self, rows: list[Found]) -> tuple[list[Found], list[Found]]:
        """A round's findings as rows of the store, and those of shapes that were not known; they are from now on."""
        found: dict[tuple[str, ...], Found] = {}
        new = []
        for row in sorted(rows, key=lambda row: rank(row["key"])):
            of = row["subject"], row["profile"], row["name"]
            known, length, text = self.lengths[of], row["length"], ""
            shape = counted_as(known, row["key"])
            key = (*of, shape)
            if shape == row["key"] and length < known.get(shape, length + 1):
                if shape not in known:
                    new.append(key)
                known[shape], text = length, row["text"]
            if key in found:
                found[key]["count"] += row["count"]
            else:
                found[key] = row | dict(zip(SHAPE, key, strict=True)) | {"length": known[shape], "text": text}
        return [*found.values()], [found[key] for key in new]


def numbered(number: int, rows: pa.Table) -> pa.Table:
    """Rows with the number of their round before them."""
    import pyarrow as pa

    return rows.add_column(0, "round", pa.repeat(pa.scalar(number, pa.int32()), len(rows)))


def reached(kind: str, new: pa.Table) -> pa.Table:
    """How many states, or shapes of findings, each round was the first to reach, as figures of a kind by pair."""
    import pyarrow as pa

    by = ["round", *PAIR]
    counts = new.group_by(by).aggregate([([], "count_all")]).sort_by([(name, "ascending") for name in by])
    rows = [{**row, "kind": kind, "name": "", "key": "", "count": row["count_all"]} for row in counts.to_pylist()]
    return pa.Table.from_pylist(rows, arrow_schema(FIGURES))


def counted_as(known: Collection[str], shape: str) -> str:
    """The shape under which a finding is counted: its own, unless as many are known as are kept, all before it."""
    first = sorted(known, key=rank)[:MOST_SHAPES]
    own = shape in known or len(first) < MOST_SHAPES or rank(shape) < rank(first[-1])
    return shape if own else first[0]
