"""A campaign: one round after the other until its goal is reached or a user stops it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter

from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.errors import BadInput
from broker_tck.properties.threads.search import Budget
from broker_tck.spark_fuzz.driver.fingerprint import kit_version
from broker_tck.spark_fuzz.driver.manifest import Code, Goal, Manifest, Pair, code_here
from broker_tck.spark_fuzz.driver.rounds import AHEAD, Rounds
from broker_tck.spark_fuzz.driver.sizes import Sizes
from broker_tck.spark_fuzz.driver.totals import Totals
from broker_tck.spark_fuzz.executors import Executor
from broker_tck.spark_fuzz.store.tables import STOP, Store

Tell = Callable[[Totals], None]
Say = Callable[[str], None]


def planned(
    contract: Contract,
    pairs: list[Pair],
    sizes: Sizes,
    *,
    seed: int,
    walk_seconds: float,
    walk_memory: int,
    executor: str,
    way: str = "",
    threads: Budget | None = None,
) -> Manifest:
    """The manifest of a campaign that begins now. With a budget for each program, it searches races."""
    return Manifest(
        contract=contract.name,
        pairs=pairs,
        seed=seed,
        shards=sizes.shards,
        operations=0 if threads else sizes.share,
        walk_seconds=walk_seconds,
        walk_memory=walk_memory,
        code=code_of(pairs),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        executor=executor,
        goal=sizes.goal,
        way=way,
        threads=threads and replace(threads, programs=sizes.share),
    )


def code_of(pairs: list[Pair]) -> Code:
    """The code that these pairs run here."""
    return code_here(list(dict.fromkeys(pair.subject for pair in pairs)), kit_version())


def resumable(store: Store) -> Manifest:
    """The manifest of a campaign that this process can continue. Raises BadInput with the reason if it cannot."""
    manifest = own_manifest(store)
    if why := manifest.code.differs(code_of(manifest.pairs)):
        raise BadInput(f"{store.where}: cannot continue with {why}; start another campaign, then merge both")
    return manifest


def own_manifest(store: Store) -> Manifest:
    """The manifest of a campaign that makes its own rounds. Raises BadInput for a store of merged campaigns."""
    manifest = store.manifest
    if manifest.merged:
        raise BadInput(
            f"{store.where}: holds {len(manifest.merged)} merged campaigns, so it cannot make rounds of its own"
        )
    return manifest


def totals_of(store: Store) -> Totals:
    """The results of a store's campaign so far."""
    totals, rounds = Totals(store.manifest), store.rounds()
    totals.add(store.sums(rounds), rounds)
    return totals


def stop(store: Store) -> None:
    """Ask the driver of a campaign to end after the rounds that have begun. Raises BadInput if there cannot be one."""
    own_manifest(store)
    store.insist(STOP)


def run(executor: Executor, store: Store, goal: Goal, tell: Tell, say: Say) -> Totals:
    """Make rounds until the goal is reached, and return the results of the campaign.

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
    """Whether the campaign has enough findings. A finding is a subject and a rule that it breaks."""
    from broker_tck.spark_fuzz.report.grouping import entries

    if goal.findings is None or totals.sum("findings") < goal.findings:
        return False
    return len(entries(store.findings())) >= goal.findings
