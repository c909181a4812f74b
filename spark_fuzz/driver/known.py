"""What the rounds of a campaign have come to so far: its states, and the shapes of its findings. Rounds add to it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Self

from broker_tck.spark_fuzz.store.reduce import MOST_SHAPES, rank
from broker_tck.spark_fuzz.store.rows import (
    FIGURES,
    FINDING,
    FINDINGS,
    KEYS,
    LANE,
    NEW_FINDINGS,
    NEW_STATES,
    ROUND,
    STATE,
    STATES,
    arrow_schema,
    names,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from broker_tck.spark_fuzz.store.tables import Store

ID = KEYS[1:]
"""The columns that name a state."""
SHAPE = (*LANE, "rules", "shape")
"""The columns that name a shape of findings."""


class Known:
    """The states and shapes that whole rounds have reached; its size depends on them, not on the rounds."""

    def __init__(self, states: pa.Table, findings: pa.Table) -> None:
        self.states = states.select(list(ID))
        self.lengths: dict[tuple[str, ...], dict[str, int]] = defaultdict(dict)
        """The shapes of each lane and rules, and the operations of their shortest traces."""
        for row in findings.to_pylist():
            self.lengths[row["subject"], row["profile"], row["rules"]][row["shape"]] = row["length"]

    @classmethod
    def of(cls, store: Store) -> Self:
        """What a store's whole rounds have reached."""
        return cls(store.states(), store.findings())

    def merged(self, number: int, rows: pa.Table, seconds: float) -> dict[str, pa.Table]:
        """Take in the reduced rows of a round; answers with what it adds to each table of the store."""
        import pyarrow as pa
        import pyarrow.compute as pc

        states = self.new_states(rows.filter(pc.equal(rows["kind"], STATE)))
        findings, shapes = self.new_findings(rows.filter(pc.equal(rows["kind"], FINDING)).to_pylist())
        counts = rows.filter(pc.invert(pc.is_in(rows["kind"], pa.array([STATE, FINDING])))).select(names(FIGURES)[1:])
        by_lane = states.group_by(list(LANE)).aggregate([([], "count_all")]).to_pylist()
        reached = Counter({(row["subject"], row["profile"]): row["count_all"] for row in by_lane})
        added = []
        for kind, new in ((NEW_STATES, reached), (NEW_FINDINGS, shapes)):
            added += [figure(kind, subject, profile, "", count) for (subject, profile), count in sorted(new.items())]
        added.append(figure(ROUND, "", "", "milliseconds", round(1000 * seconds)))
        return {
            "states": numbered(states, number).cast(arrow_schema(STATES)),
            "findings": pa.Table.from_pylist([{"round": number, **row} for row in findings], arrow_schema(FINDINGS)),
            "figures": numbered(pa.concat_tables([counts, pa.Table.from_pylist(added, counts.schema)]), number),
        }

    def new_states(self, rows: pa.Table) -> pa.Table:
        """The states that were not known, in a fixed order; they are known from now on."""
        import pyarrow as pa

        new = rows.select(list(ID)).join(self.states, list(ID), join_type="left anti")
        new = new.select(list(ID)).sort_by([(name, "ascending") for name in ID])
        if len(new):
            self.states = pa.concat_tables([self.states, new]).combine_chunks()
        return new

    def new_findings(self, rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], Counter[tuple[str, str]]]:
        """A round's findings as rows of the store, and how many of their shapes are new, by lane."""
        fresh: Counter[tuple[str, str]] = Counter()
        found: dict[tuple[str, ...], dict[str, Any]] = {}
        for row in sorted(rows, key=lambda row: rank(row["key"])):
            lane, length, text = (row["subject"], row["profile"]), row["length"], row["text"]
            known = self.lengths[*lane, row["name"]]
            shape = counted_as(known, row["key"])
            if shape == row["key"] and length < known.get(shape, length + 1):
                fresh[lane] += shape not in known
                known[shape] = length
            else:
                text = ""
            key = (*lane, row["name"], shape)
            if key in found:
                found[key]["count"] += row["count"]
            else:
                more = {name: row[name] for name in ("count", "shard", "walk")}
                found[key] = {**dict(zip(SHAPE, key, strict=True)), **more, "length": known[shape], "text": text}
        return [*found.values()], +fresh


def numbered(rows: pa.Table, number: int) -> pa.Table:
    """Rows with the number of their round before them."""
    import pyarrow as pa

    return rows.add_column(0, "round", pa.repeat(pa.scalar(number, pa.int32()), len(rows)))


def figure(kind: str, subject: str, profile: str, name: str, count: int) -> dict[str, Any]:
    """A figure that a round's merging adds."""
    return {"kind": kind, "subject": subject, "profile": profile, "name": name, "key": "", "count": count}


def counted_as(known: Collection[str], shape: str) -> str:
    """The shape under which a finding is counted: its own, unless as many are known as are kept, all before it."""
    first = sorted(known, key=rank)[:MOST_SHAPES]
    own = shape in known or len(first) < MOST_SHAPES or rank(shape) < rank(first[-1])
    return shape if own else first[0]
