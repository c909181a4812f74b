"""What the rounds of a campaign have come to so far: its states, and the shapes of its findings. Rounds add to it."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Self

from broker_tck.spark_fuzz.store.reduce import MOST_SHAPES
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

        counts = rows.filter(pc.invert(pc.is_in(rows["kind"], pa.array([STATE, FINDING]))))
        states = self.new_states(rows.filter(pc.equal(rows["kind"], STATE)))
        findings, fresh = self.new_findings(number, rows.filter(pc.equal(rows["kind"], FINDING)).to_pylist())
        by_lane = states.group_by(list(LANE)).aggregate([([], "count_all")]).to_pylist()
        reached = Counter({(row["subject"], row["profile"]): row["count_all"] for row in by_lane})
        added = [
            {"kind": kind, "subject": subject, "profile": profile, "name": "", "key": "", "count": count}
            for kind, counter in ((NEW_STATES, reached), (NEW_FINDINGS, fresh))
            for (subject, profile), count in sorted(counter.items())
        ]
        added.append(dict.fromkeys(KEYS, "") | {"kind": ROUND, "name": "milliseconds", "count": round(1000 * seconds)})
        kept = counts.select(names(FIGURES)[1:])
        figures = pa.concat_tables([kept, pa.Table.from_pylist(added, kept.schema)])
        return {
            "states": numbered(states, number).cast(arrow_schema(STATES)),
            "findings": pa.Table.from_pylist(findings, arrow_schema(FINDINGS)),
            "figures": numbered(figures, number),
        }

    def new_states(self, rows: pa.Table) -> pa.Table:
        """The states that were not known, in a fixed order; they are known from now on."""
        import pyarrow as pa

        new = rows.select(list(ID)).join(self.states, list(ID), join_type="left anti")
        new = new.select(list(ID)).sort_by([(name, "ascending") for name in ID])
        if len(new):
            self.states = pa.concat_tables([self.states, new]).combine_chunks()
        return new

    def new_findings(self, number: int, rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], Counter[Any]]:
        """A round's findings as rows of the store, and how many of their shapes are new, by lane."""
        fresh: Counter[Any] = Counter()
        found: dict[tuple[str, ...], dict[str, Any]] = {}
        for row in sorted(rows, key=lambda row: (row["length"], row["key"])):
            lane, rules, length = (row["subject"], row["profile"]), row["name"], row["length"]
            known = self.lengths[*lane, rules]
            shape = kept_as(known, row["key"], length)
            fresh[lane] += shape not in known
            news = length < known.get(shape, length + 1)
            known[shape] = min(length, known.get(shape, length))
            if other := found.get((*lane, rules, shape)):
                other["count"] += row["count"]
                continue
            place = {"round": number, "subject": lane[0], "profile": lane[1], "rules": rules, "shape": shape}
            more = {name: row[name] for name in ("count", "shard", "walk")}
            found[*lane, rules, shape] = place | more | {"length": known[shape], "text": row["text"] if news else ""}
        return [*found.values()], +fresh


def numbered(rows: pa.Table, number: int) -> pa.Table:
    """Rows with the number of their round before them."""
    import pyarrow as pa

    return rows.add_column(0, "round", pa.repeat(pa.scalar(number, pa.int32()), len(rows)))


def kept_as(known: dict[str, int], shape: str, length: int) -> str:
    """The shape under which a finding is counted: its own, unless enough are known and none of them is longer."""
    if shape in known or len(known) < MOST_SHAPES or length < max(known.values()):
        return shape
    return min(known, key=lambda shape: (known[shape], shape))
