"""What a campaign will take, from a few seconds of walking: hours of processors, and what it excludes.

Each lane walks in a few shards of its own, on all cores at once, by the workers that a campaign has: what isolation
costs, and what cores take from each other, is in the rates.
"""

from __future__ import annotations

from math import ceil
from time import perf_counter
from typing import NamedTuple

import msgspec

from broker_tck.properties.errors import BadInput
from broker_tck.properties.search.run import residual
from broker_tck.spark_fuzz.driver.manifest import Lane, Manifest
from broker_tck.spark_fuzz.driver.rounds import AHEAD
from broker_tck.spark_fuzz.executors.processes import Processes
from broker_tck.spark_fuzz.store.rows import FIGURE, REFUSED, UNFINISHED, UNFIT
from broker_tck.spark_fuzz.worker.shard import COUNTED

SECONDS = 2.0
"""About so long all lanes are measured together, or until each shard has made as many walks as have one that counts."""
SHARDS = 4
"""The fewest shards that measure a lane. If two for each process are more, these are made."""
FEW = 2_000
"""The operations of a first shard, whose speed decides how long the measured ones are."""
CORES = (16, 128)
"""Other machines that hours are given for."""


class Sample(NamedTuple):
    """A shard of one lane that was measured."""

    operations: int
    walks: int
    seconds: float

    @property
    def rate(self) -> float:
        """Operations a second."""
        return self.operations / self.seconds

    @property
    def length(self) -> float:
        """Operations of a walk."""
        return self.operations / self.walks


class LanePlan(msgspec.Struct, frozen=True):
    """What a lane will come to."""

    subject: str
    profile: str
    rate: float
    """Operations a second of one core, isolation included."""
    least: float
    """Those of the slowest shard."""
    most: float
    operations: int
    walks: int
    residual: float
    """With 95 % confidence, fewer than this share of walks fail, if none does."""


class Hours(msgspec.Struct, frozen=True):
    """How long the campaign takes by the clock."""

    cores: int
    used: int
    """As many of them as have shards to run."""
    hours: float


class Plan(msgspec.Struct, frozen=True):
    """What a campaign will take."""

    rounds: int
    shards: int
    shard_operations: int
    operations: int
    processes: int
    """So many walked at once when the rates were measured."""
    lanes: list[LanePlan]
    processor_hours: float
    least: float
    """If all shards are like the fastest one of each lane."""
    most: float
    hours: list[Hours]


def plan(manifest: Manifest, processes: Processes, seconds: float = SECONDS) -> Plan:
    """Measure for about ``seconds``, and foretell the campaign. BadInput if neither operations nor time limit it."""
    goal, cores, lanes = manifest.goal, len(processes.workers), manifest.lanes
    if goal.rounds is None and goal.seconds is None:
        raise BadInput("--plan: how long a campaign takes until there are findings, nobody knows; give --operations")
    measured = [measure(manifest, lane, processes, seconds / len(lanes)) for lane in lanes]
    share = manifest.operations // len(lanes)
    rates = [sum(s.operations for s in samples) / sum(s.seconds for s in samples) for samples in measured]
    slowest, fastest = ([which(s.rate for s in samples) for samples in measured] for which in (min, max))
    shard, most, least = (sum(share / rate for rate in found) for found in (rates, slowest, fastest))
    rounds = goal.rounds or ceil((goal.seconds or 0) * cores / shard / manifest.shards)
    count = rounds * manifest.shards
    return Plan(
        rounds=rounds,
        shards=manifest.shards,
        shard_operations=manifest.operations,
        operations=count * share * len(lanes),
        processes=cores,
        lanes=[lane_plan(*each, count * share) for each in zip(lanes, measured, rates, strict=True)],
        processor_hours=count * shard / 3600,
        least=count * least / 3600,
        most=count * most / 3600,
        hours=[hours_of(n, manifest.shards, rounds, shard) for n in sorted({cores, *CORES})],
    )


def lane_plan(lane: Lane, samples: list[Sample], rate: float, operations: int) -> LanePlan:
    """The plan of a lane that makes ``operations`` in all."""
    walks = round(operations * sum(s.walks for s in samples) / sum(s.operations for s in samples))
    rates = [sample.rate for sample in samples]
    return LanePlan(lane.subject, lane.profile, rate, min(rates), max(rates), operations, walks, residual(walks))


def hours_of(cores: int, shards: int, rounds: int, seconds: float) -> Hours:
    """The hours that ``cores`` need, if a shard takes ``seconds``."""
    used = min(cores, AHEAD * shards, rounds * shards)
    return Hours(cores, used, ceil(rounds * shards / used) * seconds / 3600)


# ---- Measuring


def measure(manifest: Manifest, lane: Lane, processes: Processes, seconds: float) -> list[Sample]:
    """Walk shards of a lane, on all processes at once, for about ``seconds``."""
    count = max(SHARDS, 2 * len(processes.workers))
    alone = msgspec.structs.replace(manifest, lanes=[lane], operations=FEW)
    samples_of(alone, processes, [*range(len(processes.workers))])  # what a process does only once
    (first, *_) = samples_of(alone, processes, [count])
    longer = round(max(first.length * COUNTED, first.rate * seconds * len(processes.workers) / count))
    return samples_of(msgspec.structs.replace(alone, operations=longer), processes, [*range(count)])


def samples_of(manifest: Manifest, processes: Processes, shards: list[int]) -> list[Sample]:
    """Shards of a campaign's only lane. BadInput if one was not walked."""
    encoded = msgspec.json.encode(manifest)
    return list(processes.threads.map(lambda shard: sample(processes, encoded, shard), shards))


def sample(processes: Processes, manifest: bytes, shard: int) -> Sample:
    """A shard, with the time from its request to its last row."""
    began = perf_counter()
    rows = processes.shard(manifest, 0, shard)
    seconds = perf_counter() - began
    counts = {"operations": 0, "walks": 0}
    for row in rows.to_pylist():
        if row["kind"] in (REFUSED, UNFIT, UNFINISHED):
            raise BadInput(f"--plan: {row['name']}")
        if row["kind"] == FIGURE and row["name"] in counts:
            counts[row["name"]] += row["count"]
    return Sample(**counts, seconds=seconds)
