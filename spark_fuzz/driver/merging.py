"""Merging: several campaigns of one contract, as one store that can be reported and merged again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import accumulate, combinations
from typing import TYPE_CHECKING

import msgspec

from broker_tck.properties.errors import BadInput
from broker_tck.spark_fuzz.driver.known import ID, SHAPE
from broker_tck.spark_fuzz.driver.manifest import Manifest
from broker_tck.spark_fuzz.store.rows import (
    FIGURES,
    KEYS,
    LANE,
    NEW_FINDINGS,
    NEW_STATES,
    STATES,
    arrow_schema,
    names,
)
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

    def rows(name: str) -> pa.Table:
        whole = [store.read(name, predicate=f"round < {store.rounds()}") for store in stores]
        return pa.concat_tables(map(shifted, whole, later))

    with into.driven(manifest):
        into.commit(later[-1] - 1, merged_tables(rows("states"), rows("findings"), rows("figures")))
    return manifest


def shifted(rows: pa.Table, by: int) -> pa.Table:
    """Rows with their rounds numbered anew."""
    import pyarrow.compute as pc

    rounds = pc.cast(pc.add(rows["round"], by), rows.schema.field("round").type)
    return rows.set_column(rows.schema.get_field_index("round"), rows.schema.field("round"), rounds)


def merged_tables(states: pa.Table, findings: pa.Table, figures: pa.Table) -> dict[str, pa.Table]:
    """The tables of a merged store; what is new in each round is counted again, now that others come before."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def first(rows: pa.Table, keys: Sequence[str]) -> pa.Table:
        return rows.group_by(list(keys)).aggregate([("round", "min")]).rename_columns([*keys, "round"])

    reached, shapes = first(states, ID), first(findings, SHAPE)
    recounted = pc.is_in(figures["kind"], pa.array([NEW_STATES, NEW_FINDINGS]))
    parts = [figures.filter(pc.invert(recounted))]
    for kind, new in ((NEW_STATES, reached), (NEW_FINDINGS, shapes)):
        counts = new.group_by([*LANE, "round"]).aggregate([([], "count_all")]).to_pylist()
        rows = [{**row, "kind": kind, "name": "", "key": "", "count": row["count_all"]} for row in counts]
        parts.append(pa.Table.from_pylist(rows, arrow_schema(FIGURES)))
    ordered = [(name, "ascending") for name in ("round", *ID)]
    return {
        "states": reached.select(names(STATES)).cast(arrow_schema(STATES)).sort_by(ordered),
        "findings": findings,
        "figures": pa.concat_tables(parts).sort_by([("round", "ascending"), *((name, "ascending") for name in KEYS)]),
    }


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
