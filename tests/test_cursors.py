"""Containers of active cursors: recorded and worked traces, the defects, and the containers' parts."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from conftest import Cli
from hypothesis import given
from hypothesis import strategies as st
from kit import ONE_IN, replay
from msgspec import structs

from broker_tck import fixtures
from broker_tck.cli.options import with_workload
from broker_tck.implementations.active_cursors.lazy_list import LazyList
from broker_tck.implementations.active_cursors.parts import Container
from broker_tck.implementations.active_cursors.sorted_cursors import SortedCursors
from broker_tck.implementations.interface import ActiveCursors as Interface
from broker_tck.model.active_cursors import PROFILES
from broker_tck.model.active_cursors.heap import HeapOrder
from broker_tck.model.active_cursors.lazy_list import Node, farthest_first
from broker_tck.model.active_cursors.specification import ActiveCursors, Cursor
from broker_tck.model.java_collections import ConcurrentHashOrder, HashOrder, PriorityQueue
from broker_tck.model.reference import Allowed
from broker_tck.model.rules import tree_of
from broker_tck.properties.contracts.active_cursors.contract import ACTIVE_CURSORS as CURSORS
from broker_tck.properties.contracts.active_cursors.invariants import INVARIANTS
from broker_tck.properties.contracts.active_cursors.life import rewrites
from broker_tck.properties.contracts.active_cursors.operations import Capabilities, Config
from broker_tck.properties.engine.answers import plain
from broker_tck.properties.engine.check import Recorded, first_difference, record
from broker_tck.properties.engine.contract import Step
from broker_tck.properties.engine.subjects import bundled, declared, resolve
from broker_tck.properties.engine.trace import from_text, load, to_text
from broker_tck.properties.engine.walk import walk, walk_seed
from broker_tck.properties.explain.checked import check_subject
from broker_tck.properties.explain.deviating import deviation
from broker_tck.properties.explain.diagnose import Diagnoser
from broker_tck.properties.explain.finding import find
from broker_tck.properties.mistakes.book import deviations_of, mistakes_of
from broker_tck.properties.search.budget import Budget
from broker_tck.properties.search.exercised import Exercised, situations_of
from broker_tck.properties.search.failing import breach_of
from broker_tck.properties.search.replay import asked, declaring, unasked

RIGHT = ("sorted-cursors", "lazy-list", "cursor-heap")
PULSAR = ("pulsar-list-2025", "pulsar-heap", "pulsar-tree-set")
FILES = {
    "ideal": (200, 7_157),
    "pulsar-heap": (73, 4_030),
    "pulsar-list-2025": (44, 4_188),
    "pulsar-list-2025-names": (21, 2_071),
    "worked-ideal": (14, 116),
    "worked-pulsar-list-2025": (8, 69),
    "worked-pulsar-heap": (5, 33),
    "worked-pulsar-tree-set": (4, 39),
}


def results(text: str, profile: str = "ideal", subject: str = "") -> list[Any]:
    """The results of a trace's questions and removals, of the model or of a subject."""
    trace = from_text(f"active-cursors {profile}; {text}")
    found = resolve(subject) if subject else None
    on = found.adapter(trace.config, found.capabilities) if found else CURSORS.model(profile)(trace.config)
    return [step.result for step in record(trace.operations, on) if step.result is not None]


# ---- Traces


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_traces_are_done_alike_by_model_and_subjects(name: str) -> None:
    traces = load(str(fixtures.folder() / "active-cursors" / f"{name}.jsonl"))
    subjects = declaring(CURSORS, traces[0].profile)
    assert subjects
    assert (len(traces), sum(len(trace.operations) for trace in traces)) == FILES[name]
    replays = [replay(trace, subjects) for trace in traces[::ONE_IN]]
    assert [d for each in replays for d in each.disagreements] == []
    assert sum(each.agreed for each in replays) == sum(each.steps for each in replays)


def test_these_files_are_there() -> None:
    assert {path.stem for path in fixtures.golden("active-cursors")} == set(FILES)


def test_trace_comes_back_from_its_text() -> None:
    text = "active-cursors ideal grace=5; add c0 [-1,-1]; update c0 null; march a 3 [1,2] 1; count c0"
    trace = from_text(text)
    assert to_text(CURSORS, trace.profile, trace.config, trace.operations) == text


DEFECTS = [
    # the rule that is broken, the subject, the trace, what is right and what is seen
    (
        "CC-11",
        "pulsar-heap",
        (
            "add c1 [1,24]; add c2 [1,2]; add c3 [1,9]; add c4 [1,30]; add c5 [1,28]; add c6 [1,3]; remove c4; "
            "update c2 [1,23]; update c6 [1,27]; slowest"
        ),
        [1, 9],
        [1, 23],
    ),
    (
        "CC-11",
        "pulsar-heap",
        (
            "add c0 [1,8]; add c1 [1,2]; add c2 [1,2]; add c3 [1,4]; add c4 [1,4]; add c5 [1,3]; remove c0; remove c1; "
            "update c2 [1,5]; slowest"
        ),
        [1, 3],
        [1, 4],
    ),
    (
        "CC-10",
        "pulsar-list-2025",
        "add a [1,4]; add b [1,8]; add c [1,8]; add d [1,2]; slowest; update c [1,9]; count b",
        3,
        4,
    ),
    (
        "CC-10",
        "pulsar-list-2025",
        "add a [1,3]; add b [1,8]; add c [1,4]; add d [1,9]; slowest; update d [1,8]; count b",
        4,
        3,
    ),
    ("CC-09", "pulsar-list-2025", "add a [1,5]; add b [1,6]; slowest; remove a; add a [1,7]; get a", 3, 1),
    ("CC-14", "pulsar-list-2025", "add a [1,4]; slowest; update a null; count a", 0, 1),
    ("CC-04", "pulsar-tree-set", "add a [1,1]; add a [1,5]; slowest", [1, 5], [1, 1]),
    ("CC-04", "pulsar-heap", "add a [1,1]; add a [1,5]; remove a; add b [1,7]; slowest", [1, 7], [1, 1]),
    ("CC-13", "pulsar-heap", "durable a [1,1]; durable a [1,1]; remove a; durables", False, True),
]


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: f"{defect[0]} {defect[1]}")
def test_defect_is_as_it_was_seen(defect: tuple[str, str, str, Any, Any]) -> None:
    _, subject, trace, right, seen = defect
    assert results(trace)[-1] == right
    assert results(trace, subject)[-1] == seen
    assert results(trace, subject, subject)[-1] == seen
    for name in RIGHT:
        if "durable" not in trace or resolve(name).capabilities.durables:
            assert results(trace, "ideal", name)[-1] == right


HEAP = [
    ("add a null; update a [1,3]; slowest", None),
    ("add a [1,3]; add b [1,4]; update a null", "NullPointerException"),
    ("add a [1,3]; update a null; slowest; add b [1,4]", "NullPointerException"),
]


@pytest.mark.parametrize(("trace", "error"), HEAP)
def test_heap_cannot_do_without_a_position(trace: str, error: str | None) -> None:
    assert [answer["error"] for answer in results(trace, "pulsar-heap")] == [error] * (error is not None)


# ---- Worked examples

WORKED = [
    # what is asked, and the answers; a version is that of the only cursor
    ("add a [1,1]; add b [1,1]; add c [1,5]; update c [1,6]; count a; count b; count c", [2, 2, 3]),
    ("add a [1,1]; add b [1,2]; add c [1,7]; slowest; update c [1,2]; count b; count c", [[1, 1], 3, 3]),
    (
        "crowd c 300 [7,7] 0; count c0; update c299 [7,8]; count c0; count c299; remove c0; slowest",
        [300, 299, 300, True, [7, 7]],
    ),
    (
        "add a [1,1]; add b [1,2]; slowest; update a null; count a; size; get a; update a [1,3]; count a",
        [[1, 1], 0, 2, 1, 2],
    ),
    ("add a [1,1]; add a null; size; remove a; get a; add a null; get a; list; remove b", [1, True, 3, [3], False]),
    ("add a null; update a [1,3]; slowest; update b [1,1]; size", [[1, 3], 1]),
    ("add a [1,1]; update a [1,1]; update b null; remove x; oldest", [False, [1, [1, 1], 2]]),
    ("durable a null; durables; add b [1,1]; remove a; durables; durable b null; durables", [True, True, False, False]),
    (
        "caches; adv 1999; caches; adv 1; caches; add a null; caches; remove a; caches",
        [True, True, False, True, True, True],
    ),
]


@pytest.mark.parametrize(("text", "answers"), WORKED)
@pytest.mark.parametrize("subject", ["", *RIGHT])
def test_worked_example(subject: str, text: str, answers: list[Any]) -> None:
    trace = from_text(f"active-cursors ideal; {text}")
    if not subject or CURSORS.can_ask(trace.operations, resolve(subject).capabilities):
        assert plain(results(text, "ideal", subject)) == answers


def test_any_cursor_at_the_slowest_position_is_the_oldest() -> None:
    model = ActiveCursors(Config())
    for name in "abc":
        model.add(name, (1, int(name == "c")))
    answer = model.oldest()
    assert isinstance(answer, Allowed)
    assert answer.example == [1, [1, 0], 3]
    assert [n for n in range(5) if answer.permits([n, [1, 0], 3])] == [1, 2]
    assert answer.says == "one of the cursors 1, 2, [1, 0], 3"


@pytest.mark.parametrize("subject", ["", "sorted-cursors", "cursor-heap"])
def test_recorded_choice_is_allowed_as_the_live_one_is(subject: str) -> None:
    trace = from_text("active-cursors ideal; add a [1,0]; add b [1,0]; oldest")
    found = resolve(subject) if subject else None
    on = found.adapter(trace.config, found.capabilities) if found else ActiveCursors(trace.config)
    recorded = Recorded(record(trace.operations, on))
    assert first_difference(trace.operations, ActiveCursors(trace.config), recorded) is None


def test_model_serves_another_model() -> None:
    cursors = ActiveCursors(Config(grace=10))
    assert cursors.caches()
    cursors.advance(10)
    assert not cursors.caches()
    cursors.add("a", (1, 1))
    cursors.add("b", (1, 3))
    assert (cursors.size(), cursors.count("b"), cursors.count("x"), cursors.slowest()) == (2, 2, 0, (1, 1))


# ---- Profiles and subjects


def test_bundled_subjects_are_containers() -> None:
    assert [s.name for s in bundled(CURSORS)] == [*RIGHT, *PULSAR]
    assert list(PROFILES) == ["ideal", *PULSAR[:1], *PULSAR[1:]]
    for subject in bundled(CURSORS):
        if subject.name in RIGHT:
            assert isinstance(subject.factory(Config(), lambda: 0), Interface)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("profile", "rules"),
    [
        ("pulsar-list-2025", ("CC-09", "CC-10", "CC-14")),
        ("pulsar-heap", ("CC-04", "CC-05", "CC-11", "CC-14")),
        ("pulsar-tree-set", ("CC-04",)),
    ],
)
def test_profile_with_all_rules_kept_is_the_specification(profile: str, rules: tuple[str, ...]) -> None:
    capabilities = structs.replace(resolve(profile).capabilities, null_updates=True, versions=False)
    model = CURSORS.model("+".join((profile, *rules)))
    for number in range(60):
        done = walk(CURSORS, walk_seed(3, number), resolve("sorted-cursors").adapter, model, capabilities)
        assert done.difference is None


@pytest.mark.deep
@pytest.mark.parametrize(("subject", "rule", "most"), [("pulsar-heap", "CC-11", 10), ("pulsar-list-2025", "CC-10", 7)])
@pytest.mark.parametrize("seed", range(1, 3))
def test_live_defect_is_found_from_nothing(subject: str, rule: str, most: int, seed: int) -> None:
    """Walks find two defects of released containers without a hint, with more seeds; a short trace names each rule."""
    finding = deviation(resolve(subject), subject, rule, seed)
    assert finding is not None
    assert finding.diagnosis.rules == (rule,)
    assert len(finding.operations) <= most


@pytest.mark.slow
def test_check_tells_what_a_container_does_otherwise(cli: Cli) -> None:
    words = ("check", "--subject", "pulsar-tree-set", "--walks", "200", "--examples", "2")
    status, out, _ = cli(*words, "--profile", "ideal", "--json")
    assert status == 1
    (checked,) = json.loads(out)["subjects"]
    (found,) = checked["findings"]
    assert (found["rules"], [also["rule"] for also in found["also"]]) == (["CC-04"], ["CC-P14", "CC-P17", "CC-P16"])
    assert cli(*words)[0] == 0


# ---- Parts, and when rules are met


@pytest.mark.parametrize(
    ("profile", "clauses"),
    [
        ("ideal", set()),
        ("pulsar-list-2025", {"order.recounts", "order.forgets", "order.releases"}),
        ("pulsar-heap", {"is_update", "tracks_late", "has_durable", "order.forgets", "order.mends"}),
        ("pulsar-tree-set", {"is_update"}),
    ],
)
def test_profile_replaces_clauses_of_its_parts(profile: str, clauses: set[str]) -> None:
    model = CURSORS.model(profile)
    assert [path for path, _ in tree_of(model)] == ["", "order.", "grace."]
    assert {mistake.clause for mistake in deviations_of(model)} == clauses
    for mistake in deviations_of(model):
        kept_one = CURSORS.model(f"{profile}+{mistake.rule.number}")
        assert mistake.clause in {other.clause for other in mistakes_of(kept_one)}


MET = [
    # the situation, what comes before, and what follows if it does not come up, and if it does
    ("CC-04 is_update yes", "add a [1,1]", "add b [1,1]", "add a [1,2]"),
    ("CC-05 update", "add a [1,1]", "update a [1,2]", "update b [1,2]"),
    ("CC-05 tracks_late", "add a [1,1]", "update a [1,2]", "add b null; update b [1,2]"),
    ("CC-07 slowest", "add a [1,1]", "slowest", "update a [1,2]; slowest"),
    ("CC-09 remove", "add a null", "remove b", "remove a"),
    ("CC-10 order.recounts", "add a [1,1]; add b [1,2]", "update a [1,2]", "update b [1,3]"),
    ("CC-11 order.take_out", "add a [1,1]; add b null", "remove a", "add c [1,1]; remove a"),
    ("CC-14 order.forgets", "add a [1,1]; add b null", "add b null", "add a null"),
    ("EC-58 caches no", "add a [1,1]", "caches", "remove a; adv 2000; caches"),
]


@pytest.mark.parametrize(("situation", "first", "without", "with_it"), MET)
def test_situation_is_met_if_it_comes_up(situation: str, first: str, without: str, with_it: str) -> None:
    assert situation in situations_of(ActiveCursors)
    for text, met in ((without, False), (with_it, True)):
        counting = Exercised(ActiveCursors)
        trace = from_text(f"active-cursors ideal; {first}; {text}")
        record(trace.operations, counting.model(trace.config))
        assert bool(counting.met[situation]) is met


# ---- Invariants and relations


def test_slowest_position_that_goes_back_is_seen() -> None:
    invariant = next(invariant for invariant in INVARIANTS if invariant.number == "CC-P15")
    operations = from_text("active-cursors ideal; add a [1,1]; slowest; update a [1,2]; slowest").operations

    def judged(*answers: Any) -> str:
        told = iter(answers)
        steps = [Step(o, next(told) if o.tag == "slowest" else None, ()) for o in operations]
        return invariant.check(Config(), steps)[2]

    assert judged([1, 1], [1, 2]) == ""
    assert judged([1, 1], [1, 0]) == "the slowest position goes back from [1, 1] to [1, 0]"


class Queued(LazyList):
    """A removed cursor waits in a queue until somebody asks for a position."""

    def remove_cursor(self, name: str) -> bool:
        """Remove a cursor, and leave it in the queue."""
        return Container.remove_cursor(self, name)


class Circling(SortedCursors):
    """What a cursor is kept in refers to itself."""

    def add(self, cursor: Any, position: tuple[int, int] | None) -> None:
        """Add a cursor, and leave a circle behind that leads to it."""
        circle = [cursor]
        circle.append(circle)
        super().add(cursor, position)


KEEPING = [
    # the container, the trace, and what is wrong at which operation
    (Queued, "add a [0,0]; remove a", (1, "1 of 1 removed cursors kept, such as a")),
    (Queued, "add a [0,0]; remove b; remove a; slowest", (2, "1 of 1 removed cursors kept, such as a")),
    (
        Queued,
        "crowd a 3 [0,0] 1; slowest; remove a 2; slowest; remove a2",
        (4, "1 of 3 removed cursors kept, such as a2"),
    ),
    (
        Queued,
        "add a [0,0]; remove a; slowest; add b null; slowest; remove b",
        (5, "1 of 2 removed cursors kept, such as b"),
    ),
    (Queued, "add a [0,0]; remove b", (None, "")),
    (Circling, "add a [0,0]; add a [0,1]; remove a; add a [0,2]", (None, "")),
    (LazyList, "add a [0,0]; slowest; add b null; remove a; remove b", (None, "")),
]


@pytest.mark.parametrize(("kind", "text", "broken"), KEEPING)
def test_container_that_keeps_a_removed_cursor_is_seen(
    kind: type[Container[Any]], text: str, broken: tuple[int | None, str]
) -> None:
    trace = from_text(f"active-cursors ideal; {text}")
    subject = declared(kind.__name__, kind, CURSORS)
    assert breach_of(CURSORS, subject.fresh, "CC-P17", trace.config, trace.operations) == broken


@pytest.mark.slow
def test_container_that_keeps_removed_cursors_is_broken_by_that_alone() -> None:
    checked = check_subject(declared("queued", Queued, CURSORS), "ideal", Budget(0, 60, 3))
    (found,) = checked.findings
    assert (found.diagnosis.rules, [o.tag for o in found.operations]) == (("CC-P17",), ["add", "remove"])


@pytest.mark.slow
def test_container_may_keep_removed_cursors_if_it_says_so() -> None:
    accepts = {"CC-P17": "a removed cursor is kept until somebody asks"}
    subject = declared("queued", Queued, CURSORS, accepts=accepts)
    checked = check_subject(subject, subject.profiles[0], Budget(0, 60, 3))
    assert (checked.findings, checked.breaches, [*checked.deviations.values()]) == ([], [], [True])


# ---- What a subject lacks


WITHOUT = Capabilities(null_updates=False, durables=False, versions=False)
CIRCLING = replace(resolve("pulsar-list-2025"), capabilities=WITHOUT)
"""The list, which may not come back once the position of a cursor was taken away."""


TAKEN = "add a null; add a null; add b [1,1]; remove b; add b null; durable b null; crowd c 2 [1,0] 0; add c1 null"


def test_subject_without_null_updates_is_not_asked_for_them() -> None:
    trace = from_text(f"active-cursors pulsar-list-2025; {TAKEN}; update a [1,1]; update a null; caches; count a")
    without = Capabilities(null_updates=False, durables=False, grace=False)
    answers = [*CURSORS.asks(trace.operations, without)]
    assert answers == [True, False, True, True, True, False, True, False, True, False, False, True]
    assert all(CURSORS.asks(trace.operations, Capabilities()))
    assert not CURSORS.can_ask(trace.operations, without)
    assert CURSORS.can_ask(trace.operations[:1], without)
    assert unasked(trace, CIRCLING) == (2, trace.operations[1])
    assert [o.tag for o in asked(trace, CIRCLING).operations].count("add") == 3


@pytest.mark.slow
def test_walks_ask_a_subject_for_nothing_that_it_lacks() -> None:
    for name in (*RIGHT, *PULSAR):
        capabilities = structs.replace(resolve(name).capabilities, null_updates=False)
        for number in range(60):
            done = walk(CURSORS, walk_seed(7, number), lambda c, _: ActiveCursors(c), ActiveCursors, capabilities)
            assert CURSORS.can_ask(done.operations, capabilities)
            assert any(getattr(o, "at", 0) is None for o in done.operations) or number > 0


@pytest.mark.slow
def test_list_that_circles_conforms_without_null_updates() -> None:
    checked = check_subject(CIRCLING, "pulsar-list-2025", Budget(0, 60, 3))
    assert checked.green
    assert checked.golden_agreed == checked.golden_steps == 6_327
    assert "CC-14" not in {rule.number for rule in checked.rules}
    assert not [name for name in checked.deviations if "CC-14" in name]


def test_trace_is_not_reduced_to_what_a_subject_lacks() -> None:
    """The shortest trace that breaks the rule has a null update, which the circling list is not to be asked for."""
    text = "add a [1,5]; add b [1,6]; slowest; update b [1,7]; remove a; add a null; get a; size; slowest; get b"
    trace = from_text(f"active-cursors ideal; {text}; remove b; add b [1,8]; get b")
    subject = CIRCLING
    diagnoser = Diagnoser(subject, CURSORS.model("ideal"))
    finding = find(diagnoser, trace.walk)
    assert finding is not None
    assert CURSORS.can_ask(finding.operations, subject.capabilities)
    assert finding.diagnosis.rules == ("CC-09",)


def test_any_of_the_oldest_is_right_where_the_heap_keeps_its_rules() -> None:
    text = "durable a [1,1]; add b [1,1]; durables; oldest; remove a; durables"
    trace = from_text(f"active-cursors pulsar-heap+CC-11+CC-13; {text}")
    steps = record(trace.operations, CURSORS.model(trace.profile)(trace.config))
    assert [step.result for step in steps] == [None, None, True, [1, [1, 1], 2], True, False]
    model = CURSORS.model("pulsar-heap+CC-11")(trace.config)
    record(trace.operations[:2], model)
    answer = model.oldest()
    assert isinstance(answer, Allowed)
    assert answer.permits([2, [1, 1], 2])


# ---- Whole lives

WHOLE = CURSORS.with_workload("whole")
LIVES = [
    ("add a [0,-1]; add b [0,5]; add c [0,5]; update a [0,3]; slowest; remove b; add b [0,5]; adv 5; count x", ""),
    ("durable a [0,0]; update a [0,1]; oldest; durables; remove a; durable a [0,-1]; update a [0,0]", ""),
    ("add a [0,3]; update a [0,3]", "update"),
    ("add a [0,3]; update a [0,2]", "update"),
    ("add a [0,3]; update a null", "update"),
    ("add a null", "add"),
    ("add a [0,3]; add b [0,2]", "add"),
    ("add a [0,3]; add a [0,4]", "add"),
    ("add a [0,3]; remove a; update a [0,4]", "update"),
    ("add a [0,3]; remove b", "remove"),
    ("crowd a 2 [0,0] 1", "crowd"),
    ("march a 2 [0,0] 1", "march"),
]


@pytest.mark.parametrize(("text", "refused"), LIVES)
def test_whole_life_is_opened_at_an_end_marked_forward_and_deleted(text: str, refused: str) -> None:
    operations = from_text(f"active-cursors ideal; {text}").operations
    answers = [*WHOLE.asks(operations, Capabilities())]
    assert answers == [True] * (len(operations) - bool(refused)) + [False] * bool(refused)
    assert not refused or operations[-1].tag == refused


@pytest.mark.parametrize("name", [*RIGHT, *PULSAR])
def test_walks_of_whole_lives_are_such(name: str) -> None:
    subject = with_workload([resolve(name)], "whole")[0]
    model, whole = subject.contract.model(subject.profiles[0]), 0
    for number in range(40):
        done = walk(subject.contract, walk_seed(2, number), subject.adapter, model, subject.capabilities)
        assert done.difference is None
        assert subject.contract.can_ask(done.operations, subject.capabilities)
        whole += {o.tag for o in done.operations} >= {"add", "update", "slowest"}
    assert whole >= 30  # a walk may leave kinds out


def test_life_is_rewritten_to_shorter_lives() -> None:
    text = "add a [0,-1]; add b [0,2]; update a [0,1]; update a [0,2]; remove a; add a [0,3]; slowest"
    operations = from_text(f"active-cursors ideal; {text}").operations
    shorter = [to_text(CURSORS, "", Config(), life).removeprefix("active-cursors ; ") for life in rewrites(operations)]
    assert len(shorter) == len(set(shorter)) or len(shorter) > 10
    assert all(len(from_text(f"active-cursors ideal; {life}").operations) < len(operations) for life in shorter)
    assert shorter[0] == "add b [0,2]; slowest"
    assert "add b [0,2]; add a [0,3]; slowest" in shorter
    assert "add b [0,3]; add a [0,3]; slowest" in shorter
    assert "add b [0,-1]; add a [0,0]; slowest" in shorter


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(2))
def test_heap_loses_sight_of_a_cursor_in_a_whole_life(seed: int) -> None:
    """Whole lives show that the heap loses a cursor, in a short trace that names the rule."""
    subject = with_workload([resolve("pulsar-heap")], "whole")[0]
    finding = deviation(subject, "pulsar-heap", "CC-11", seed)
    assert finding is not None
    assert finding.diagnosis.rules == ("CC-11",)
    assert subject.contract.can_ask(finding.operations, subject.capabilities)
    assert len(finding.operations) <= 11


def test_unknown_life_is_bad_input(cli: Cli) -> None:
    status, out, err = cli("check", "--subject", "pulsar-heap", "--workload", "half")
    assert (status, out) == (2, "")
    assert err == "broker-tck: unknown workload 'half' of active-cursors; there are: whole\n"
    assert "there are: none" in cli("walk", "--subject", "heap", "--workload", "whole")[2]


# ---- Parts


ADDED = ["Aa", "BB", "AaAa", "AaBB", "BBAa", "BBBB", "ä", "\U0001f600", "persistent-topic/sub-7"]
ADDED += [f"sub-{i}" for i in range(20)]
LISTED = """
Aa BB sub-17 sub-16 sub-15 sub-14 sub-19 sub-18 sub-13 sub-12 sub-11 sub-10 AaAa AaBB BBAa BBBB sub-8 sub-7
persistent-topic/sub-7 sub-6 sub-5 ä sub-9 sub-0 sub-4 sub-3 sub-2 sub-1 \U0001f600
"""
LISTED_CONCURRENTLY = """
BB Aa sub-17 sub-16 sub-15 sub-14 sub-19 sub-18 sub-13 sub-12 sub-11 sub-10 BBBB BBAa AaBB AaAa sub-8 sub-7
persistent-topic/sub-7 sub-6 sub-5 ä sub-9 sub-0 sub-4 sub-3 sub-2 sub-1 \U0001f600
"""
LATER = "BB Aa sub-16 sub-14 sub-18 sub-12 sub-10 AaBB BBBB sub-8 sub-6 sub-0 sub-4 sub-2 \U0001f600 x"
LATER_CONCURRENTLY = "BB Aa sub-16 sub-14 sub-18 sub-12 sub-10 BBBB AaBB sub-8 sub-6 sub-0 sub-4 sub-2 \U0001f600 x"
TWELVE = "sub-8 sub-7 sub-6 sub-5 sub-11 sub-9 sub-10 sub-0 sub-4 sub-3 sub-2 sub-1"
TWELVE_CONCURRENTLY = "sub-8 sub-7 sub-6 sub-5 sub-9 sub-0 sub-4 sub-3 sub-2 sub-1 sub-11 sub-10"


@pytest.mark.parametrize("concurrent", [False, True])
def test_names_are_listed_as_java_lists_them(concurrent: bool) -> None:
    """Recorded on OpenJDK 17: keys of one hash, a table that doubles, keys that went and came back."""
    first, later, twelve = (LISTED, LATER, TWELVE)
    if concurrent:
        first, later, twelve = (LISTED_CONCURRENTLY, LATER_CONCURRENTLY, TWELVE_CONCURRENTLY)
    names = (ConcurrentHashOrder if concurrent else HashOrder)()
    for name in [*ADDED, "BB"]:
        names.add(name)
    assert [*names] == first.split()
    for name in [*ADDED[::2], "nobody"]:
        names.discard(name)
    for name in ("x", "Aa"):
        names.add(name)
    assert [*names] == later.split()
    names = type(names)()
    for i in range(12):
        names.add(f"sub-{i}")
    assert [*names] == twelve.split()
    names.clear()
    assert [*names] == []


@pytest.mark.parametrize(
    ("positions", "order"),
    [
        ((3, 3, 1, 5, 5, 3, 1, 5, 2, 3, 5, 1), [3, 4, 7, 10, 9, 1, 0, 5, 8, 6, 2, 11]),
        ((0, 0, 4, 0, 0, 2, 0, 4, 0), [2, 7, 5, 6, 0, 3, 8, 4, 1]),
    ],
)
def test_moves_wait_as_in_a_priority_queue_of_java(positions: tuple[int, ...], order: list[int]) -> None:
    """Recorded on OpenJDK 17; 0 stands for none, which the comparator of the list has behind itself."""
    queue = PriorityQueue(farthest_first)
    for number, entry in enumerate(positions):
        node = Node(Cursor("c", number))
        node.position = (1, entry) if entry else ()
        queue.add(node)
    assert [queue.poll().cursor.number for _ in positions] == order


positions = st.tuples(st.integers(-2, 2), st.integers(-1, 6))


@given(st.lists(st.tuples(st.integers(0, 40), st.booleans()), max_size=80))
def test_mended_heap_keeps_its_order(steps: list[tuple[int, bool]]) -> None:
    order = HeapOrder()
    for number, (at, out) in enumerate(steps):
        if out and order.heap:
            order.take_out(order.heap[at % len(order.heap)].cursor)
        else:
            order.add(Cursor("c", number), (1, at))
        assert [item.at for item in order.heap] == list(range(len(order.heap)))
        for item in order.heap[1:]:
            above = order.heap[(item.at - 1) // 2]
            assert above.position is not None
            assert item.position is not None
            assert above.position <= item.position


def test_capabilities_are_full_unless_declared() -> None:
    assert resolve("pulsar-heap").left_out == ["ranks=false", "grace=false"]
    full = Capabilities(ranks=True, grace=True, versions=True, durables=True, null_updates=True)
    assert Capabilities() == full
