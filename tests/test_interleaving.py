"""Calls that overlap: all orders of a few, some orders of more; what is legal for a moment, and what never is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli

from broker_tck.implementations.entry_cache.stepwise_queue import StepwiseCache, StepwiseQueue, Wrapper
from broker_tck.implementations.interface import LOOKS, MAPS, Entry, Position, Steps
from broker_tck.model.rules import rules_of
from broker_tck.properties.contracts.entry_cache.operations import BeginPut, Capabilities, Config, Counters, Put, Step
from broker_tck.properties.contracts.entry_cache.shorter_calls import ordinary, rewrites
from broker_tck.properties.engine.check import first_difference, record
from broker_tck.properties.engine.contract import Scenario
from broker_tck.properties.engine.operation import belongings
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import Subject, declared, resolve
from broker_tck.properties.engine.trace import from_text
from broker_tck.properties.engine.walk import walk, walk_seed
from broker_tck.properties.explain.diagnose import Diagnoser
from broker_tck.properties.explain.finding import Finding, find
from broker_tck.properties.mistakes.implementations.entry_cache import interleavings
from broker_tck.properties.mistakes.implementations.mutant import declared_in
from broker_tck.properties.report.lines import lines
from broker_tck.properties.search.interleaving import Explored, explore, sample
from broker_tck.properties.search.reduction.numbers import by_first_use
from broker_tck.properties.search.reduction.reducer import Reducer

CONTRACT = CONTRACTS["entry-cache"]
MODEL = CONTRACT.specification
MUTANTS = declared_in(interleavings)
SCENARIOS = {scenario.name: scenario for scenario in CONTRACT.scenarios}
PAGE = (Path(__file__).parents[1] / "docs" / "interleavings.md").read_text(encoding="utf-8")

ORDERS = {
    "insertions": (924, 0),
    "one-key": (92, 0),
    "insert-clear": (49, 4),
    "insert-evict": (65, 0),
    "evict-invalidate": (64, 0),
    "time-invalidate": (61, 0),
    "evict-invalidate-insert": (1_092, 0),
    "evict-insert-look": (160, 0),
    "read-evict": (1_585, 0),
    "read-evict-insert": (170, 3),
    "range-insert": (413, 31),
    "clear-invalidate": (90, 0),
    "remove-insert-again": (64, 1),
    "two-passes": (2, 7),
    "evict-look-at-sizes": (120, 0),
    "evict-read-counts": (41, 0),
}
"""How many orders two scripts have, and how many were left where a step waits."""

FOUND = {
    "size-read-late": ("insert-evict", "begin-put; step; step; begin-size; step; step; step"),
    "removed-twice": ("clear-invalidate", "put; begin-clear; step; begin-invalidate; step; step; step"),
    "removed-late-by-key": ("remove-insert-again", ""),
    "answers-what-was-there": ("clear-invalidate", ""),
    "whatever-the-wrapper-has": ("read-evict-insert", ""),
    "takes-the-first-now": ("time-invalidate", ""),
    "recycled-before-polled": ("evict-insert-look", ""),
}
"""The scenario that finds a mutant, and, where they are said, the kinds of operations of its shortest trace."""


@cache
def explored(subject: str, scenario: str) -> Explored:
    return explore(SCENARIOS[scenario], resolve(subject), MODEL)


@cache
def finding_of(name: str) -> Finding:
    subject = resolve(f"mutant:{name}")
    shortest = explored(subject.name, FOUND[name][0]).shortest
    assert shortest
    found = find(Diagnoser(subject, MODEL), shortest)
    assert found
    return found


# ---- All orders


@pytest.mark.slow
@pytest.mark.parametrize("name", ORDERS)
def test_every_order_of_two_scripts_conforms(name: str) -> None:
    tried = explored("stepwise-queue", name)
    assert tried.failing == []
    assert (tried.orders, tried.waiting) == ORDERS[name]


def test_every_scenario_of_two_scripts_is_here() -> None:
    assert {name for name, scenario in SCENARIOS.items() if len(scenario.scripts) == 2} == set(ORDERS)


def test_orders_of_three_scripts_are_drawn() -> None:
    subject, scenario = resolve("stepwise-queue"), SCENARIOS["three-threads"]
    assert len(scenario.scripts) == 3
    first, again = (sample(scenario, subject, MODEL, 200, 1) for _ in range(2))
    assert first.failing == []
    assert (first.orders, first.operations) == (again.orders, again.operations)
    assert first.orders + first.waiting == 200


# ---- Mutants


@pytest.mark.slow
def test_every_mutant_is_right_where_calls_do_not_overlap() -> None:
    alone = type(CONTRACT.capabilities())(steps=False, reads=False)
    for name in MUTANTS:
        subject = resolve(f"mutant:{name}")
        for number in range(12):
            assert walk(CONTRACT, walk_seed(3, number), subject.adapter, MODEL, alone).difference is None, name


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_all_orders_find_the_mutant_by_its_own_rule(name: str) -> None:
    finding = finding_of(name)
    assert MUTANTS[name].rule in finding.diagnosis.rules
    assert len(finding.operations) <= 12
    kinds = "; ".join(operation.tag for operation in finding.operations)
    assert kinds == FOUND[name][1] or not FOUND[name][1]
    tried = explored(f"mutant:{name}", FOUND[name][0])
    counts = rf"{len(tried.failing)} of {tried.orders} \| {len(finding.operations)}"
    row = rf"^\| `{name}` \| .+ \| `{FOUND[name][0]}` \| {counts} \|$"
    assert re.search(row, PAGE, flags=re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_shortest_order_is_a_trace_that_replays(cli: Cli, name: str) -> None:
    finding = finding_of(name)
    shown = lines(CONTRACT, MODEL, finding.config, finding.operations, finding.difference, finding.answers)
    assert shown[-1].seen
    text = "; ".join(["entry-cache", *(line.operation for line in shown)])
    if finding.config != Config():
        text = text.replace("entry-cache", f"entry-cache max_requeue_count={finding.config.max_requeue_count}", 1)
    assert cli("replay", "--subject", f"mutant:{name}", text)[0] == 1
    assert cli("replay", "--subject", "stepwise-queue", text)[0] == 0


# ---- What is not


class Endless(StepwiseCache):
    """Looks for ever."""

    def get_steps(self, position: Position) -> Steps[Entry | None]:
        while True:
            yield LOOKS


class Lost(StepwiseCache):
    """Waits for nobody."""

    def clear_steps(self) -> Steps[tuple[int, int]]:
        nothing: Any = None
        did = yield from self.put_steps((9, 9), nothing)
        return did, did


class Hasty(StepwiseCache):
    """Says that an entry is mapped before it is."""

    def put_steps(self, position: Position, value: Entry) -> Steps[bool]:
        if position not in self.wrappers:
            yield MAPS
        steps = super().put_steps(position, value)
        yield from (did for did in steps if did is not MAPS)
        return True


class NeverEmpty(StepwiseCache):
    """Cannot remove an entry whose value is dead, and clears until nothing is left."""

    def remove(self, key: Position, wrapper: Wrapper) -> int | None:
        value = wrapper.value
        if value is None or not value.retain():
            return None
        value.release()
        return super().remove(key, wrapper)

    def clear_steps(self) -> Steps[tuple[int, int]]:
        while self.wrappers:
            yield from super().clear_steps()
        return 0, 0


def of_cache(cache_type: type[StepwiseCache]) -> Subject:
    return declared("kit:of-cache", type("Made", (StepwiseQueue,), {"cache_type": cache_type}), CONTRACT)


@pytest.mark.parametrize(
    ("cache_type", "text", "at", "seen"),
    [
        pytest.param(Endless, f"begin-get 0 0 0 0; {'step 0; ' * 60}", 25, ["looks"], id="only looks"),
        pytest.param(
            NeverEmpty,
            f"put 0 0 0 1 0; spoil 0 0 0; begin-clear 0 0; {'step 0; ' * 60}",
            33,
            ["looks"],
            id="never empty",
        ),
        pytest.param(Hasty, "begin-put 0 0 0 1 0 0; step 0", 1, [[0, 0]] * 3, id="says what it has not done"),
        pytest.param(Lost, "begin-clear 0 0; step 0", 1, "AttributeError", id="raises"),
    ],
)
def test_call_that_goes_wrong_is_found(cache_type: type[StepwiseCache], text: str, at: int, seen: Any) -> None:
    operations = from_text(f"entry-cache; {text}").operations
    found = first_difference(
        operations, MODEL(Config()), of_cache(cache_type).adapter(Config(), CONTRACT.capabilities())
    )
    assert found is not None
    shown = found[1].seen
    assert (found[0], shown["error"] if isinstance(shown, dict) else shown) == (at, seen)


def test_order_that_never_ends_is_a_finding() -> None:
    [read] = from_text("entry-cache; begin-get 0 0 0 0").operations
    scenario = Scenario("endless", "A read.", Config(), (), ((read,),), (Counters(),), Step)
    assert len(explore(scenario, of_cache(Endless), MODEL).failing) == 1


def test_invariant_of_reads_needs_no_model() -> None:
    finding = finding_of("whatever-the-wrapper-has")
    adapter = resolve("mutant:whatever-the-wrapper-has").adapter(finding.config, CONTRACT.capabilities())
    (invariant,) = (invariant for invariant in CONTRACT.invariants if invariant.number == "IL-4")
    met, _, complaint = invariant.check(finding.config, record(finding.operations, adapter))
    assert met
    assert complaint.startswith("the read is a hit of ")


# ---- Parts


@pytest.mark.parametrize("profile", CONTRACT.profiles)
def test_every_profile_has_calls_that_overlap(profile: str) -> None:
    model = CONTRACT.model(profile)
    assert {"IL-1", "IL-2", "IL-3", "IL-4", "IL-5", "IL-11", "EC-17"} <= {rule.number for rule in rules_of(model)}
    for number in range(12):
        assert not walk(CONTRACT, walk_seed(0, number), lambda c, k: model(c), model, Capabilities()).difference


def test_traces_are_rewritten() -> None:
    trace = from_text(
        "entry-cache; begin-put 0 0 0 10 1 1; step 1; begin-get 0 0 0 0; step 1; step 0; step 1"
    ).operations
    assert belongings(trace) == [[0, 1, 3, 5], [2, 4]]
    assert ordinary(BeginPut(0, 0, 0, 10, 1, 1)) == Put(0, 0, 0, 10, 1)
    shorter = [[operation.tag for operation in other] for other in rewrites(trace)]
    assert ["put", "begin-get", "step"] in shorter
    assert ["begin-get", "step", "put"] in shorter
    assert all(len(other) <= len(trace) for other in shorter)


def test_call_that_is_begun_again_belongs_to_itself() -> None:
    trace = from_text("entry-cache; step 2; begin-clear 0 2; step 2; begin-clear 1 2; step 2; put 0 0 0 1 0").operations
    assert belongings(trace) == [[1, 2], [3, 4]]


def test_threads_are_named_by_first_use() -> None:
    trace = from_text("entry-cache; begin-clear 0 7; put 0 0 0 1 0; begin-clear 1 3; step 7; step 3").operations
    wanted = from_text("entry-cache; begin-clear 0 0; put 0 0 0 1 0; begin-clear 1 1; step 0; step 1").operations
    assert by_first_use(trace) == by_first_use(wanted) == wanted


def test_reduction_leaves_out_calls_and_names_threads_in_order() -> None:
    trace = from_text(
        "entry-cache; begin-clear 2 7; begin-trim 0 4 9; begin-clear 1 3" + "; step 9; step 7; step 3" * 2
    )

    def fails(_config: Any, operations: Sequence[Any]) -> int | None:
        """It takes two calls, and two steps of each: no two operations may go, only all that belong to a call."""
        made = Counter(o.thread for o in operations if o.tag == "step")
        whole = dict.fromkeys((o.thread for o in operations if o.opens), 2)
        return len(operations) - 1 if len(whole) >= 2 and made == whole else None

    _, short = Reducer(fails, CONTRACT.config()).reduce(trace.config, trace.operations)
    assert [operation.tag.partition("-")[0] for operation in short] == ["begin"] * 2 + ["step"] * 4
    assert [getattr(operation, "thread", None) for operation in short[:2]] == [0, 1]


# ---- The command line


@pytest.mark.slow
def test_command_line_tries_all_orders(cli: Cli) -> None:
    status, out, err = cli("interleave", "--subject", "stepwise-queue", "--scenario", "insertions")
    assert (status, err) == (0, "")
    assert out.splitlines()[-1] == "924 orders tried, 0 failed"


def test_command_line_tells_the_shortest_order(cli: Cli) -> None:
    status, out, err = cli("interleave", "--subject", "mutant:removed-twice", "--scenario", "clear-invalidate")
    assert (status, err) == (1, "")
    assert "EC-12 is broken by mutant:removed-twice" in out
    assert "broker-tck replay --subject mutant:removed-twice" in out


def test_command_line_draws_orders(cli: Cli) -> None:
    arguments = ("--subject", "stepwise-queue", "--sample", "50", "--scenario", "three-threads", "--json")
    assert cli("interleave", *arguments) == cli("interleave", *arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--subject", "removal-queue"), "removal-queue does not run its calls step by step"),
        (("--subject", "heap"), "heap does not run its calls step by step"),
        (("--subject", "stepwise-queue", "--scenario", "x"), "unknown scenario 'x'; there are: insertions, one-key"),
    ],
)
def test_command_line_says_what_is_wrong(cli: Cli, arguments: tuple[str, ...], said: str) -> None:
    status, out, err = cli("interleave", *arguments)
    assert (status, out) == (2, "")
    assert err.startswith(f"broker-tck: {said}")
