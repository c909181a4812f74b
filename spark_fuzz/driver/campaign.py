"""A campaign: one round after the other until its goal is reached, or somebody stops it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from time import perf_counter

from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.errors import BadInput
from broker_tck.spark_fuzz.driver.fingerprint import kit_version
from broker_tck.spark_fuzz.driver.manifest import Code, Goal, Lane, Manifest, code_here
from broker_tck.spark_fuzz.driver.rounds import AHEAD, Rounds
from broker_tck.spark_fuzz.driver.sizes import Sizes
from broker_tck.spark_fuzz.driver.totals import Totals
from broker_tck.spark_fuzz.executors import Executor
from broker_tck.spark_fuzz.store.tables import STOP, Store

Tell = Callable[[Totals], None]
Say = Callable[[str], None]


def planned(
    contract: Contract,
    lanes: list[Lane],
    sizes: Sizes,
    *,
    seed: int,
    walk_seconds: float,
    walk_memory: int,
    executor: str,
) -> Manifest:
    """The manifest of a campaign that begins now."""
    return Manifest(
        contract=contract.name,
        lanes=lanes,
        seed=seed,
        shards=sizes.shards,
        operations=sizes.operations,
        walk_seconds=walk_seconds,
        walk_memory=walk_memory,
        code=code_of(lanes),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        executor=executor,
        goal=sizes.goal,
    )


def code_of(lanes: list[Lane]) -> Code:
    """The code that these lanes run here."""
    return code_here(list(dict.fromkeys(lane.subject for lane in lanes)), kit_version())


def resumable(store: Store) -> Manifest:
    """The manifest of a campaign that can go on here. BadInput says why another cannot."""
    manifest = own_manifest(store)
    if why := manifest.code.differs(code_of(manifest.lanes)):
        raise BadInput(f"{store.where}: cannot go on: this is {why}; start another campaign, and merge them")
    return manifest


def own_manifest(store: Store) -> Manifest:
    """The manifest of a campaign that makes its own rounds. BadInput for a store that was merged of others."""
    manifest = store.manifest
    if manifest.merged:
        raise BadInput(
            f"{store.where}: merged of {len(manifest.merged)} campaigns; it has no rounds of its own to make"
        )
    return manifest


def totals_of(store: Store) -> Totals:
    """What a store's campaign has come to."""
    totals, rounds = Totals(store.manifest), store.rounds()
    totals.add(store.sums(rounds), rounds)
    return totals


def stop(store: Store) -> None:
    """Ask the driver of a campaign to end after the rounds that have begun. BadInput if there cannot be one."""
    own_manifest(store)
    store.insist(STOP)


def run(executor: Executor, store: Store, goal: Goal, tell: Tell, say: Say) -> Totals:
    """Make rounds until the goal is reached; answers with what the campaign has come to.

    It must be called by the one process that drives the store.
    """
    totals = totals_of(store)
    rounds = Rounds(executor, store, say)
    tell(totals)
    began = perf_counter() - totals.seconds

    def another(number: int) -> bool:
        seconds = totals.seconds_of(number)
        if number > totals.rounds:  # that many have begun
            seconds = max(seconds, perf_counter() - began)
        return not (goal.reached(number, seconds) or found(store, totals, goal) or store.stop_asked())

    for figures in rounds.made(totals.rounds, another, AHEAD if goal.findings is None else 0):
        totals.add(figures)
        tell(totals)
    return totals


def found(store: Store, totals: Totals, goal: Goal) -> bool:
    """Whether there are findings enough: subjects and rules that they break."""
    from broker_tck.spark_fuzz.report.grouping import entries

    if goal.findings is None or totals.sum("findings") < goal.findings:
        return False
    return len(entries(store.findings())) >= goal.findings
