"""Merging: several campaigns of one contract, as one store that can be reported and merged again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import reduce
from itertools import accumulate, combinations
from typing import TYPE_CHECKING, Any

import msgspec

from broker_tck.properties.errors import BadInput
from broker_tck.spark_fuzz.driver.manifest import Manifest
from broker_tck.spark_fuzz.driver.rounds import LANE, merged_findings, merged_states, new_in_rounds
from broker_tck.spark_fuzz.store.places import Store, frame
from broker_tck.spark_fuzz.store.rows import FINDINGS, STATES, SUMMARY

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def merge(spark: SparkSession, stores: Sequence[Store], into: Store) -> Manifest:
    """Merge campaigns into a new store: the rounds of one after those of the other."""
    manifests = [store.manifest for store in stores]
    check(stores, manifests)
    rounds = [store.rounds() for store in stores]
    later = [0, *accumulate(rounds)][: len(stores)]
    shards = [0, *accumulate(m.shards for m in manifests)][: len(stores)]
    total = sum(rounds)
    states = merged_states(together(spark, "states", STATES, stores, rounds, later, [0] * len(stores)))
    findings = merged_findings(together(spark, "findings", FINDINGS, stores, rounds, later, shards))
    for name, merged in (("states", states), ("findings", findings)):
        merged.coalesce(1).write.mode("overwrite").parquet(into.slot(name, total))
    write_summary(spark, stores, into, later, shards, total)
    manifest = merged_manifest(manifests)
    into.create(manifest)
    return manifest


def check(stores: Sequence[Store], manifests: Sequence[Manifest]) -> None:
    """BadInput where campaigns cannot be merged, or would be counted twice."""
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


def together(
    spark: SparkSession,
    name: str,
    columns: str,
    stores: Sequence[Store],
    rounds: Sequence[int],
    later: Sequence[int],
    shards: Sequence[int],
) -> DataFrame:
    """A merged table of all stores, with rounds and shards numbered anew."""
    parts = []
    for store, count, by, shard in zip(stores, rounds, later, shards, strict=True):
        part = frame(spark, columns, store.slot(name, count))
        part = part.withColumn("round", (part["round"] + by).cast("int"))
        parts.append(part.withColumn("shard", (part.shard + shard).cast("int")) if "shard" in part.columns else part)
    return reduce(lambda a, b: a.unionByName(b), parts)


def write_summary(
    spark: SparkSession,
    stores: Sequence[Store],
    into: Store,
    later: Sequence[int],
    shards: Sequence[int],
    total: int,
) -> None:
    """Write the rounds of all stores; what is new in each is counted again, now that others come before."""
    from pyspark.sql import functions as f

    parts: list[Any] = []
    for store, by, shard in zip(stores, later, shards, strict=True):
        part = frame(spark, f"{SUMMARY}, round int", store.path("summary"))
        part = part.where(~part.kind.isin("states", "findings")).withColumn("round", (part["round"] + by).cast("int"))
        parts.append(part.withColumn("shard", (part.shard + shard).cast("int")))
    for name, columns in (("states", STATES), ("findings", FINDINGS)):
        parts.append(new_in_rounds(frame(spark, columns, into.slot(name, total)), name))
    summary = reduce(lambda a, b: a.unionByName(b), parts)
    one_file = summary.repartition("round").sortWithinPartitions("round", "kind", *LANE, f.col("shard"), "name")
    one_file.write.mode("overwrite").partitionBy("round").parquet(into.path("summary"))
