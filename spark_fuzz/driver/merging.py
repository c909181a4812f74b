"""Merging: several campaigns of one contract, as one store that can be reported and merged again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import accumulate, combinations
from typing import TYPE_CHECKING

import msgspec

from broker_tck.properties.errors import BadInput
from broker_tck.spark_fuzz.driver.known import ID, SHAPE, figure
from broker_tck.spark_fuzz.driver.manifest import Manifest
from broker_tck.spark_fuzz.store.rows import FIGURES, LANE, NEW_FINDINGS, NEW_STATES, STATES, arrow_schema, names
from broker_tck.spark_fuzz.store.tables import Store

if TYPE_CHECKING:
    import pyarrow as pa


def merge(stores: Sequence[Store], into: Store) -> Manifest:
    """Merge campaigns into a new store: the rounds of one after those of the other."""
    import pyarrow as pa

    manifests = [store.manifest for store in stores]
    check(stores, manifests)
    manifest = merged_manifest(manifests)
    later = [0, *accumulate(store.rounds() for store in stores)]
    if not later[-1]:
        raise BadInput(f"{stores[0].where}: no round is whole yet, nor of the others")

    def rows(name: str) -> pa.Table:
        return pa.concat_tables(shifted(store.whole(name), by) for store, by in zip(stores, later, strict=False))

    with into.driven(manifest):
        into.commit(0, later[-1] - 1, merged_tables(rows("states"), rows("findings"), rows("figures")))
    return manifest


def shifted(rows: pa.Table, by: int) -> pa.Table:
    """Rows with their rounds numbered anew."""
    import pyarrow.compute as pc

    return rows.set_column(0, rows.schema.field("round"), pc.cast(pc.add(rows["round"], by), rows["round"].type))


def merged_tables(states: pa.Table, findings: pa.Table, figures: pa.Table) -> dict[str, pa.Table]:
    """The tables of a merged store; what is new in each round is counted again, now that others come before."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def first(rows: pa.Table, keys: Sequence[str]) -> pa.Table:
        return rows.group_by(list(keys)).aggregate([("round", "min")]).rename_columns([*keys, "round"])

    reached = first(states, ID)
    parts = [figures.filter(pc.invert(pc.is_in(figures["kind"], pa.array([NEW_STATES, NEW_FINDINGS]))))]
    for kind, new in ((NEW_STATES, reached), (NEW_FINDINGS, first(findings, SHAPE))):
        counts = new.group_by([*LANE, "round"]).aggregate([([], "count_all")]).to_pylist()
        rows = [
            {"round": row["round"], **figure(kind, row["subject"], row["profile"], "", row["count_all"])}
            for row in counts
        ]
        parts.append(pa.Table.from_pylist(rows, arrow_schema(FIGURES)))
    return {
        "states": ordered(reached.select(names(STATES)).cast(arrow_schema(STATES))),
        "findings": findings,
        "figures": ordered(pa.concat_tables(parts)),
    }


def ordered(rows: pa.Table) -> pa.Table:
    """Rows in an order that depends on nothing but what they are."""
    return rows.sort_by([(name, "ascending") for name in rows.column_names])


def check(stores: Sequence[Store], manifests: Sequence[Manifest]) -> None:
    """BadInput if campaigns cannot be merged, or would be counted twice."""
    first = manifests[0]
    for store, manifest in zip(stores, manifests, strict=True):
        if manifest.contract != first.contract:
            raise BadInput(
                f"{store.where}: a campaign of {manifest.contract}; {stores[0].where} is of {first.contract}"
            )
        if why := first.code.differs(manifest.code):
            raise BadInput(f"{store.where}: made with {why}, which {stores[0].where} was made with")
    for (a, one), (b, other) in combinations(zip(stores, manifests, strict=True), 2):
        if walks_of(one) & walks_of(other):
            raise BadInput(
                f"{b.where}: has walks of {a.where}: the same seed and subject; merge campaigns of other seeds"
            )


def walks_of(manifest: Manifest) -> set[tuple[int, str, str]]:
    """The seeds of a campaign with its lanes: two campaigns that share one have walks in common."""
    merged = [msgspec.convert(m, Manifest) for m in manifest.merged] or [manifest]
    return {(m.seed, lane.subject, lane.profile) for m in merged for lane in m.lanes}


def merged_manifest(manifests: Sequence[Manifest]) -> Manifest:
    """The manifest of the merged store."""
    parts = [part for m in manifests for part in (m.merged or [msgspec.to_builtins(m)])]
    lanes = list(dict.fromkeys(lane for m in manifests for lane in m.lanes))
    subjects = {name: digest for m in manifests for name, digest in m.code.subjects.items()}
    first = manifests[0]
    return msgspec.structs.replace(
        first,
        lanes=lanes,
        shards=sum(m.shards for m in manifests),
        code=msgspec.structs.replace(first.code, subjects=subjects),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        merged=parts,
    )
