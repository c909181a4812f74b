"""Shards: the same rows everywhere, as many walks as without isolation, and findings of whatever a subject does."""

from __future__ import annotations

import json
import os
from collections import Counter
from threading import Event
from time import process_time
from typing import Any

import msgspec
import pytest
import refresh
from kit import CONTRACT, MODEL, ROOT, python, subject_of, trace_of, walked, wrong

from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.properties.contracts.delayed_delivery.abstract import abstract
from broker_tck.properties.engine.check import no_answer
from broker_tck.properties.engine.operation import letters, shape
from broker_tck.properties.engine.subjects import resolve
from broker_tck.properties.engine.walk import Walk
from broker_tck.properties.explain.guarding import UNREPEATED
from broker_tck.properties.report.finding import FindingResult, story
from broker_tck.properties.search.isolation.guard import Limits
from broker_tck.properties.search.run import Run, checked
from broker_tck.properties.threads.search import Budget, Searched
from broker_tck.spark_fuzz.driver.manifest import Pair, decoded, encoded
from broker_tck.spark_fuzz.store.rows import FIGURE, FINDING, RULE, RULE_WALKS, STATE, UNFINISHED, Row, trouble
from broker_tck.spark_fuzz.worker import process, races
from broker_tck.spark_fuzz.worker.findings import NOT_REDUCED, Finder
from broker_tck.spark_fuzz.worker.pair_results import MOST_ALIKE, MOST_FAILING
from broker_tck.spark_fuzz.worker.races import programs_of
from broker_tck.spark_fuzz.worker.shard import COUNTED, shard_rows, shard_seed, share_of

MUTANT = Pair("mutant:strict-rounded-down", "timebucket-ideal")
PLAIN = Pair("time-bucket", "timebucket-ideal")
SEARCH = msgspec.structs.replace(refresh.manifest([PLAIN], 0), shards=3, threads=Budget(5))


class Remembers(TimeBucketTracker):
    """Wrong in the ninth tracker that a process makes: in a walk, as the first one is judged with fewer."""

    made = 0

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        Remembers.made += 1
        self.wrong = Remembers.made == 9

    def has_message_available(self) -> bool:
        return super().has_message_available() is not self.wrong


class Leaves(TimeBucketTracker):
    """Ends the process where others of its kind raise: when it is cleared."""

    def clear(self) -> None:
        os._exit(3)


class RaisesThenLeaves(TimeBucketTracker):
    """Raises when it is cleared, and ends the process when that is done again."""

    cleared = False

    def clear(self) -> None:
        if RaisesThenLeaves.cleared:
            os._exit(3)
        RaisesThenLeaves.cleared = True
        raise LookupError("cleared")


class ComesBackLate(TimeBucketTracker):
    """Forks when it is cleared; the other process comes back when more walks have been made."""

    def clear(self) -> None:
        super().clear()
        if os.fork() == 0:
            Event().wait(0.1)


class LeavesLate(Leaves):
    """Works for half a second before."""

    def clear(self) -> None:
        until = process_time() + 0.5
        while process_time() < until:
            pass
        super().clear()


class Raises(TimeBucketTracker):
    def clear(self) -> None:
        raise LookupError("cleared")


def rows(*pairs: Pair, operations: int = 20_000, round_number: int = 0, shard: int = 0) -> list[Row]:
    manifest = refresh.manifest(list(pairs), operations)
    return list(shard_rows(manifest, round_number, shard))


def figures(found: list[Row]) -> dict[str, int]:
    return {row.name: row.count for row in found if row.kind == FIGURE}


def findings(found: list[Row]) -> list[Row]:
    return [row for row in found if row.kind == FINDING]


def test_shards_of_programs_are_one_range_after_the_other() -> None:
    numbers = [number for round_ in range(4) for shard in range(3) for number in programs_of(SEARCH, round_, shard)]
    assert numbers == [*range(60)]
    assert share_of(SEARCH, 1, 2) == "programs 25 to 29"
    assert decoded(encoded(SEARCH), "s") == SEARCH


def test_process_that_ends_while_it_searches_leaves_its_shard_unfinished(monkeypatch: pytest.MonkeyPatch) -> None:
    def ends(subject: Any, model: Any, budget: Budget, seed: int, tell: Any, first: int) -> None:
        tell(Searched(programs=2), 0.0)
        os.kill(os.getpid(), 9)

    monkeypatch.setattr(races, "search_races", ends)
    monkeypatch.setattr(process, "refusal", lambda *_: "")
    monkeypatch.setattr("sys.stdin", None)
    why = "time-bucket: its process died of SIGKILL, at program 22"
    assert process.rows(process.Request(SEARCH, 1, 1)) == [trouble(UNFINISHED, why, 1)]


@pytest.mark.slow
def test_digest_of_a_shard_is_the_committed_one() -> None:
    """Under another hash seed; `python tests/refresh.py` writes it, where shards are meant to change."""
    done = python("-c", "import refresh; print(refresh.shard_digest())", cwd=ROOT / "tests", PYTHONHASHSEED="77")
    assert done.stdout.strip() == json.loads(refresh.DIGESTS.read_text(encoding="utf-8"))["shard"], done.stderr


@pytest.mark.slow
def test_isolation_changes_nothing_of_what_is_walked() -> None:
    found = rows(PLAIN, operations=60_000)
    subject = resolve(PLAIN.subject)
    run = Run(subject, PLAIN.profile, shard_seed(refresh.manifest([PLAIN], 1), 0, 0))
    for _ in checked(run, range(figures(found)["walks"]), COUNTED):
        pass
    assert figures(found) | {"milliseconds": 0} == {
        "walks": run.walks,
        "operations": run.operations,
        "counted": run.counted,
        "failing": 0,
        "milliseconds": 0,
    }
    states = Counter({(r.name, r.key): r.count for r in found if r.kind == STATE})
    assert states == {(tag, " ".join(map(str, map(int, key)))): n for (tag, key), n in run.states.items()}
    met = {r.name: r.count for r in found if r.kind == RULE}
    assert {number: met[number] for number in run.met} | {"DD-23": 0, "DD-35": 0} == {**run.met, "DD-23": 0, "DD-35": 0}
    walks_of = {r.name: r.count for r in found if r.kind == RULE_WALKS}
    assert all(min(met[name], 1) <= n <= min(met[name], run.counted) for name, n in walks_of.items())


def test_shard_makes_its_operations_and_little_more() -> None:
    assert 20_000 <= figures(rows(PLAIN))["operations"] < 21_000


@pytest.mark.slow
def test_failing_walks_are_reduced_a_few_of_a_kind_and_counted() -> None:
    found = rows(MUTANT, operations=200_000)
    assert figures(found)["failing"] == MOST_FAILING
    made = findings(found)
    assert {row.name.partition(",")[0] for row in made} == {"DD-05"}
    assert all(row.length <= 6 for row in made)
    kinds = {row.key.rpartition(" ")[2] for row in made}
    assert sum(row.count for row in made) <= MOST_ALIKE * 12
    assert kinds <= {"[armed]", "[count]", "[result]"}


@pytest.mark.slow
def test_death_costs_no_walk_but_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    from broker_tck.properties.engine import subjects

    monkeypatch.setattr(subjects, "imported", {"m:Leaves": Leaves, "m:Raises": Raises}.__getitem__)
    died = rows(Pair("m:Leaves", PLAIN.profile))
    raised = rows(Pair("m:Raises", PLAIN.profile))
    assert figures(died)["failing"] == 2 < figures(raised)["failing"]
    assert [(r.name, r.key, r.length) for r in findings(died)] == [("DD-30", "clear [result]", 1)]
    assert [(r.name, r.key, r.length) for r in findings(raised)] == [("DD-30", "clear [result]", 1)]
    seen = msgspec.json.decode(findings(died)[0].text)["seen"]
    assert seen == {"error": "Exited", "message": "it ended its process with status 3"}
    first = findings(raised)[0].walk
    assert findings(died)[0].walk == first


@pytest.mark.slow
def test_call_that_comes_back_late_is_told_with_its_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    from broker_tck.properties.engine import subjects

    late = {"m:ComesBackLate": ComesBackLate, "m:Raises": Raises}
    monkeypatch.setattr(subjects, "imported", late.__getitem__)
    found, raised = (findings(rows(Pair(name, PLAIN.profile)))[0] for name in late)
    assert (found.name, found.key, found.walk) == ("DD-30", "clear [result]", raised.walk)


@pytest.mark.slow
def test_walk_that_failed_is_told_as_it_is_if_the_process_ends_while_it_is_reduced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from broker_tck.properties.engine import subjects

    monkeypatch.setattr(subjects, "imported", {"m:RaisesThenLeaves": RaisesThenLeaves}.__getitem__)
    found = next(row for row in findings(rows(Pair("m:RaisesThenLeaves", PLAIN.profile))) if row.length > 1)
    assert (found.name, found.key) == ("DD-30", NOT_REDUCED)
    assert msgspec.json.decode(found.text)["seen"]["error"] == "LookupError"


def finder(subject: Any) -> Finder:
    return Finder(subject, MODEL, Limits(2.0, 256), None)


@pytest.mark.slow
def test_death_is_reduced_though_it_takes_as_long_as_a_walk_may() -> None:
    trace = trace_of("add 1 0 +2000; clear")
    death = no_answer("Exited", "it ended its process with status 3")
    failed = Walk(5, trace.config, list(trace.operations), death)
    row = Finder(subject_of(LeavesLate), MODEL, Limits(1.0, 256), None).of_fatal(failed)
    assert (row.name, row.key, row.length) == ("DD-30", "clear [result]", 1)
    assert msgspec.json.decode(row.text)["seen"]["error"] == "Exited"


def test_failure_that_needs_what_went_before_is_told_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    from broker_tck.properties.engine import subjects

    monkeypatch.setattr(subjects, "imported", {"m:Remembers": Remembers}.__getitem__)
    (row,) = findings(rows(Pair("m:Remembers", PLAIN.profile), operations=3_000))
    assert row.key == UNREPEATED
    assert msgspec.json.decode(row.text)["note"] == UNREPEATED


@pytest.mark.slow
def test_invariant_that_is_broken_is_a_reduced_finding() -> None:
    """A subject may agree with a model that is wrong; then only an invariant can tell."""
    subject = wrong("DD-05 buckets.key: rounded_down")
    invariant = next(invariant for invariant in CONTRACT.invariants if invariant.number == "DD-07")
    for number in range(60):
        done = walked(subject_of(TimeBucketTracker), number)
        row = finder(subject).of_breach(done, invariant.number, "late")
        if msgspec.json.decode(row.text)["note"] == "":
            break
    assert (row.name, row.length < 6) == ("DD-07", True)


def test_relation_that_differs_is_told_by_its_name() -> None:
    done = walked(subject_of(TimeBucketTracker), 0)
    row = finder(subject_of(TimeBucketTracker)).of_breach(done, "shift", "moved times, other answers")
    assert (row.name, row.key) == ("shift", "shift does not hold: moved times, other answers")
    told = story(msgspec.json.decode(row.text, type=FindingResult))
    assert "shift is broken by kit:TimeBucketTracker" in told
    assert "  shift does not hold: moved times, other answers\n" in told
    assert row.length == len(done.operations)


# ---- Shapes and abstract states


def test_shape_has_kinds_and_letters_and_no_numbers() -> None:
    operations = trace_of("add 7 9 +5; add 7 8 +6; adv 3; add 7 9 +8; fill 7 8 1 3 +9; get 4").operations
    assert shape(operations) == "add A; add B; adv; add A; fill B; get"


@pytest.mark.parametrize(("number", "letter"), [(0, "A"), (25, "Z"), (26, "AA"), (51, "AZ"), (52, "BA")])
def test_letters_go_on_after_z(number: int, letter: str) -> None:
    assert letters(number) == letter


def test_abstract_states_are_few_and_tell_what_differs() -> None:
    model: Any = MODEL(CONTRACT.config())
    empty = abstract(model)
    model.add(1, 0, model.timer.now + 5000)
    one = abstract(model)
    model.advance(6000)
    due = abstract(model)
    assert len({empty, one, due}) == 3
    assert all(0 <= part <= 5 or part == -1 for state in (empty, one, due) for part in state)
    for entry in range(200):
        model.add(1, entry, model.timer.now + 5000 + 512 * entry)
    many = abstract(model)
    model.add(1, 200, model.timer.now + 5000 + 512 * 200)
    assert abstract(model) == many
