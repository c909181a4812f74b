"""Campaigns without walks: an executor that makes up its rows, the same for the same round and shard."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import msgspec
import pyarrow as pa
import refresh

from broker_tck.spark_fuzz.driver.manifest import Goal, Manifest, Pair
from broker_tck.spark_fuzz.driver.rounds import Rounds
from broker_tck.spark_fuzz.store.rows import FIGURE, FINDING, MACHINE, ROUND, STATE, TABLES, Row, arrow_schema
from broker_tck.spark_fuzz.store.tables import Store
from broker_tck.spark_fuzz.worker.task import batch_of

PAIRS = [Pair("heap", "heap"), Pair("mutant:strict-rounded-down", "timebucket-ideal")]
ROUNDS = 3
SHAPES = [f"{'add A; ' * n}get [{seen}]" for n in range(4) for seen in ("result", "state")] + ["not reduced: it's long"]


def manifest(**changes: Any) -> Manifest:
    made = msgspec.structs.replace(refresh.manifest(PAIRS, 1000), shards=3, goal=Goal(rounds=ROUNDS))
    return msgspec.structs.replace(made, **changes)


def shard_rows(seed: int, number: int, shard: int) -> list[Row]:
    """The rows of a shard: few states and shapes, so that rounds and shards have many in common."""
    chance = Random(f"{seed} {number} {shard}")
    rows = [Row(MACHINE, "", "", name, "host", count) for name, count in (("shards", 1), ("operations", 500))]
    for pair in PAIRS:
        head = pair.subject, pair.profile
        rows += [Row(FIGURE, *head, "walks", count=chance.randrange(9)), Row("rule", *head, "DD-05", count=shard)]
        rows += [Row(STATE, *head, "add", str(key), 1) for key in sorted(chance.sample(range(30), 9))]
    for shape in sorted(chance.sample(SHAPES, 6)):
        walk, length = str(2**64 + chance.randrange(99)), chance.randrange(1, 9)
        text = json.dumps({"shape": shape, "walk": walk, "length": length})
        rows.append(Row(FINDING, *head, "DD-05", shape, chance.randrange(1, 9), walk, length, text))
    return rows


class MadeUp:
    """The executor."""

    name = "made up"

    def run(self, manifest: Manifest, number: int, shards: Sequence[int]) -> Iterator[pa.RecordBatch]:
        for shard in shards:
            yield batch_of(shard_rows(manifest.seed, number, shard), shard)


def made(store: Store, until: int = ROUNDS) -> None:
    """Make the rounds of a store that are left. This process must drive it."""
    rounds = Rounds(MadeUp(), store, lambda text: None)
    for _ in rounds.made(store.rounds(), lambda number: number < until and not store.stop_asked(), ahead=0):
        pass


def outcome(store: Store) -> dict[str, list[str]]:
    """All rows of whole rounds, but how long they took."""
    assert store.read("figures").num_rows == store.whole("figures").num_rows
    tables = {name: store.whole(name).to_pylist() for name in ("states", "findings", "figures")}
    tables["figures"] = [row for row in tables["figures"] if row["kind"] != ROUND]
    return {name: sorted(map(str, rows)) for name, rows in tables.items()}


def table(name: str, rows: Sequence[dict[str, Any]]) -> pa.Table:
    """Rows as a table of a store."""
    return pa.Table.from_pylist(list(rows), arrow_schema(TABLES[name]))
