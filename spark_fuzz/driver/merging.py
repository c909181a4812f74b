"""Merging: several campaigns of one contract become one store, which can be reported and merged again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import accumulate, combinations
from typing import TYPE_CHECKING

import msgspec

from broker_tck.properties.errors import BadInput
from broker_tck.spark_fuzz.driver.known import ID, reached
from broker_tck.spark_fuzz.driver.manifest import Code, Manifest
from broker_tck.spark_fuzz.store.rows import NEW_FINDINGS, NEW_STATES, SHAPE, STATES, names
from broker_tck.spark_fuzz.store.tables import Store

if TYPE_CHECKING:
    import pyarrow as pa


def merge(stores: Sequence[Store], into: Store) -> Manifest:
    """Merge campaigns into a new store: the rounds of one after those of the other."""
    import pyarrow as pa

    manifests = [store.manifest for store in stores]
    check(stores, manifests)
    manifest = merged_manifest(manifests)
    rounds = [store.rounds() for store in stores]
    first = [*accumulate(rounds, initial=0)]
    if not any(rounds):
        raise BadInput(f"{stores[0].where}: no round is complete, neither here nor in the other stores")

    def rows(name: str) -> pa.Table:
        parts = zip(stores, rounds, first, strict=False)
        return pa.concat_tables(shifted(store.whole(name, rounds=many), by) for store, many, by in parts)

    with into.driven(manifest):
        into.commit(0, first[-1] - 1, merged_tables(rows("states"), rows("findings"), rows("figures")))
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

    new, shapes = first(states, ID), first(findings, SHAPE)
    others = figures.filter(pc.invert(pc.is_in(figures["kind"], pa.array([NEW_STATES, NEW_FINDINGS]))))
    counted = [others, reached(NEW_STATES, new), reached(NEW_FINDINGS, shapes)]
    return {
        "states": ordered(new.select(names(STATES))),
        "findings": findings,
        "figures": ordered(pa.concat_tables(counted)),
    }


def ordered(rows: pa.Table) -> pa.Table:
    """Rows in an order that depends on nothing but what they are."""
    return rows.sort_by([(name, "ascending") for name in rows.column_names])


def check(stores: Sequence[Store], manifests: Sequence[Manifest]) -> None:
    """Raise BadInput if campaigns cannot be merged, or if walks, or programs, would be counted twice."""
    for (a, one), (b, other) in combinations(zip(stores, manifests, strict=True), 2):
        if other.contract != one.contract:
            raise BadInput(f"{b.where}: a campaign of {other.contract}; {a.where} is of {one.contract}")
        if other.counts != one.counts:
            raise BadInput(f"{b.where}: a campaign of {other.counts.judged}; {a.where} is of {one.counts.judged}")
        if why := shared(one, other).differs(shared(other, one)):
            raise BadInput(f"{b.where}: made with {why}, unlike {a.where}")
        if walks_of(one) & walks_of(other):
            twice = f"{b.where}: repeats {one.counts.judged} of {a.where} (same seed and subject)"
            raise BadInput(f"{twice}; merge campaigns of different seeds")


def shared(manifest: Manifest, other: Manifest) -> Code:
    """The code of a campaign, as far as another one runs it as well."""
    code = manifest.code
    libraries = {name: version for name, version in code.libraries.items() if name in other.code.libraries}
    subjects = {name: digest for name, digest in code.subjects.items() if name in other.subjects}
    return msgspec.structs.replace(code, libraries=libraries, subjects=subjects)


def walks_of(manifest: Manifest) -> set[tuple[int, str, str]]:
    """The seeds of a campaign with its pairs: two campaigns that share one have walks in common."""
    return {(m.seed, pair.subject, pair.profile) for m in manifest.merged or [manifest] for pair in m.pairs}


def merged_manifest(manifests: Sequence[Manifest]) -> Manifest:
    """The manifest of the merged store."""
    first = manifests[0]
    code = msgspec.structs.replace(
        first.code,
        libraries={name: version for m in manifests for name, version in m.code.libraries.items()},
        subjects={name: digest for m in manifests for name, digest in m.code.subjects.items()},
    )
    return msgspec.structs.replace(
        first,
        pairs=list(dict.fromkeys(pair for m in manifests for pair in m.pairs)),
        shards=sum(m.shards for m in manifests),
        code=code,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        merged=[part for m in manifests for part in m.merged or [m]],
    )
