"""What a campaign will take, from a few seconds of walking: hours of processors, and what it excludes.

A few shards are walked on all cores at once, by the workers that a campaign has: what isolation costs, and what cores
take from each other, is in the rates.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from math import ceil
from statistics import harmonic_mean
from time import perf_counter
from typing import NamedTuple

import msgspec

from broker_tck.properties.errors import BadInput
from broker_tck.properties.search.run import failure_bound
from broker_tck.spark_fuzz.driver.manifest import Manifest, Pair
from broker_tck.spark_fuzz.driver.rounds import AHEAD
from broker_tck.spark_fuzz.executors.processes import Processes
from broker_tck.spark_fuzz.store.rows import FIGURE, REFUSED, UNFINISHED, UNFIT

SHARDS = 4
"""The fewest shards that are measured. If two for each process are more, these are made."""
WARM, PROBE = 2_000, 30_000
"""Operations of a pair in the shards that warm processes up, and in those that are measured."""
CORES = (16, 128)
"""Other machines that hours are given for."""


class Sample(NamedTuple):
    """A shard that was measured: what its pairs came to, and its seconds from the request to the last row."""

    pairs: Mapping[Pair, Mapping[str, int]]
    seconds: float

    def took(self, pair: Pair) -> float:
        """The seconds of a pair: its share of the shard's, which contain what isolation costs."""
        return self.seconds * self.pairs[pair]["milliseconds"] / sum(of["milliseconds"] for of in self.pairs.values())

    def rate(self, pair: Pair) -> float:
        """Operations a second of a pair."""
        return self.pairs[pair]["operations"] / self.took(pair)


class PairPlan(msgspec.Struct, frozen=True):
    """What a pair will come to."""

    subject: str
    profile: str
    rate: float
    """Operations a second of one core, isolation included."""
    least: float
    """Those of the slowest shard."""
    most: float
    operations: int
    walks: int
    failure_bound: float
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
    pairs: list[PairPlan] = msgspec.field(name="lanes")
    processor_hours: float
    least: float
    """If all shards are like the fastest one of each pair."""
    most: float
    hours: list[Hours]


def plan(manifest: Manifest, processes: Processes) -> Plan:
    """Measure, and foretell the campaign. BadInput if neither operations nor time limit it."""
    goal, cores = manifest.goal, len(processes.workers)
    if goal.rounds is None and goal.seconds is None:
        raise BadInput("--plan: how long a campaign takes until there are findings, nobody knows; give --operations")
    samples = measure(manifest, processes)
    share = manifest.operations // len(manifest.pairs)
    rates = {pair: [sample.rate(pair) for sample in samples] for pair in manifest.pairs}
    middle, most, least = (sum(share / of(found) for found in rates.values()) for of in (harmonic_mean, min, max))
    rounds = goal.rounds or ceil((goal.seconds or 0) * cores / middle / manifest.shards)
    count = rounds * manifest.shards
    return Plan(
        rounds=rounds,
        shards=manifest.shards,
        shard_operations=manifest.operations,
        operations=count * share * len(manifest.pairs),
        processes=cores,
        pairs=[pair_plan(pair, samples, rates[pair], count * share) for pair in manifest.pairs],
        processor_hours=count * middle / 3600,
        least=count * least / 3600,
        most=count * most / 3600,
        hours=[hours_of(n, manifest.shards, rounds, middle) for n in sorted({cores, *CORES})],
    )


def pair_plan(pair: Pair, samples: Sequence[Sample], rates: Sequence[float], operations: int) -> PairPlan:
    """The plan of a pair that makes ``operations`` in all."""
    made, walked = (sum(sample.pairs[pair][name] for sample in samples) for name in ("operations", "walks"))
    walks = round(operations * walked / made)
    return PairPlan(
        pair.subject,
        pair.profile,
        harmonic_mean(rates),
        min(rates),
        max(rates),
        operations,
        walks,
        failure_bound(walks),
    )


def hours_of(cores: int, shards: int, rounds: int, seconds: float) -> Hours:
    """The hours that ``cores`` need, if a shard takes ``seconds``."""
    used = min(cores, AHEAD * shards, rounds * shards)
    return Hours(cores, used, ceil(rounds * shards / used) * seconds / 3600)


# ---- Measuring


def measure(manifest: Manifest, processes: Processes) -> list[Sample]:
    """Walk shards on all processes at once, with few operations before: what a process does only once."""
    cores = len(processes.workers)
    for operations, shards in ((WARM, cores), (PROBE, max(SHARDS, 2 * cores))):
        probe = msgspec.structs.replace(manifest, operations=operations * len(manifest.pairs))
        run = partial(sample, processes, msgspec.json.encode(probe))
        samples = [*processes.threads.map(run, range(shards))]
    return samples


def sample(processes: Processes, manifest: bytes, shard: int) -> Sample:
    """A shard. BadInput if it was not walked."""
    began = perf_counter()
    rows = processes.shard(manifest, 0, shard)
    seconds = perf_counter() - began
    pairs: defaultdict[Pair, Counter[str]] = defaultdict(Counter)
    for row in rows.to_pylist():
        if row["kind"] in (REFUSED, UNFIT, UNFINISHED):
            raise BadInput(f"--plan: {row['name']}")
        if row["kind"] == FIGURE:
            pairs[Pair(row["subject"], row["profile"])][row["name"]] += row["count"]
    return Sample(pairs, seconds)
