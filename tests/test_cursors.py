"""Containers of active cursors: recorded and worked traces, the defects, the containers' parts, and what they cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from hypothesis import given
from hypothesis import strategies as st
from kit import plots
from msgspec import structs

from broker_tck import fixtures
from broker_tck.implementations import cursor_bench
from broker_tck.implementations.cursor_bench import CANDIDATES, WORKLOADS, Counted, CursorRow, rows
from broker_tck.implementations.indexed_heap import CursorHeap
from broker_tck.implementations.interface import ActiveCursors as Interface
from broker_tck.implementations.lazy_list import LazyList
from broker_tck.implementations.sorted_cursors import SortedCursors
from broker_tck.model.active_cursors import PROFILES, ActiveCursors
from broker_tck.model.cursor_heap import CursorHeap as ModelHeap
from broker_tck.model.cursor_heap import HeapItem
from broker_tck.model.reference import Allowed
from broker_tck.properties.active_cursors.contract import ACTIVE_CURSORS as CURSORS
from broker_tck.properties.active_cursors.laws import LAWS, VARIATIONS
from broker_tck.properties.active_cursors.operations import Capabilities, Config
from broker_tck.properties.check import Recorded, first_difference, kept, record, recorder
from broker_tck.properties.choices import SeededChoices
from broker_tck.properties.contract import Step
from broker_tck.properties.deviating import broken_by, deviation
from broker_tck.properties.replay import declaring, replay
from broker_tck.properties.subjects import bundled, resolve
from broker_tck.properties.trace import Trace, from_text, load, to_text
from broker_tck.properties.walk import walk, walk_seed

RIGHT = ("sorted-cursors", "lazy-list", "cursor-heap")
PULSAR = ("pulsar-list-2025", "pulsar-heap", "pulsar-tree-set")
FILES = {
    "ideal": (200, 7_157),
    "worked-ideal": (14, 116),
    "worked-pulsar-list-2025": (8, 69),
    "worked-pulsar-heap": (5, 33),
    "worked-pulsar-tree-set": (4, 39),
}
CONTAINERS = (SortedCursors, LazyList, CursorHeap)


def results(text: str, profile: str = "ideal", subject: str = "") -> list[Any]:
    """The results of a trace's questions and removals, of the model or of a subject."""
    trace = from_text(f"active-cursors {profile}; {text}")
    found = resolve(subject) if subject else None
    on = found.rig(trace.config, found.capabilities) if found else CURSORS.model(profile)(trace.config)
    return [step.result for step in record(trace.operations, on) if step.result is not None]


# ---- Traces


@pytest.mark.volume
@pytest.mark.parametrize("name", FILES)
def test_traces_are_done_alike_by_model_and_subjects(name: str) -> None:
    traces = load(str(fixtures.folder() / "active-cursors" / f"{name}.jsonl"))
    subjects = declaring(CURSORS, traces[0].profile)
    assert subjects
    replays = [replay(trace, subjects) for trace in traces]
    assert [d for each in replays for d in each.disagreements] == []
    assert (len(traces), sum(each.agreed for each in replays)) == FILES[name]


def test_these_files_are_there() -> None:
    assert {path.stem for path in fixtures.golden("active-cursors")} == set(FILES)


def test_altered_answer_is_found_where_it_is() -> None:
    for number, trace in enumerate(load(str(fixtures.folder() / "active-cursors" / "ideal.jsonl"))[:60]):
        at = (7 * number) % len(trace.operations)
        outcomes = [*trace.outcomes[:at], ["other"], *trace.outcomes[at + 1 :]]
        wrong = Trace(CURSORS, trace.profile, trace.config, trace.operations, outcomes)
        (found,) = replay(wrong, []).disagreements
        assert (found.step, found.observed) == (at, "result")


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


def test_heap_tracks_nobody_who_had_no_position() -> None:
    trace = "add a null; update a [1,3]; slowest"
    assert results(trace) == [[1, 3]]
    assert results(trace, "pulsar-heap") == results(trace, "pulsar-heap", "pulsar-heap") == []


def test_heap_throws_where_a_position_is_taken_away() -> None:
    trace = "add a [1,3]; add b [1,4]; update a null"
    assert results(trace) == []
    for subject in ("", "pulsar-heap"):
        assert results(trace, "pulsar-heap", subject)[-1]["error"] == "NullPointerException"


def test_one_cursor_may_lose_its_position_in_the_heap() -> None:
    trace = "add a [1,3]; update a null; slowest; add b [1,4]"
    for subject in ("", "pulsar-heap"):
        assert [r["error"] for r in results(trace, "pulsar-heap", subject)] == ["NullPointerException"]


# ---- Worked examples


@pytest.mark.parametrize("subject", ["", *RIGHT])
def test_ranks(subject: str) -> None:
    ask = "count a; count b; count c; count d"
    one = f"add a [1,1]; add b [1,1]; add c [1,5]; add d [1,5]; {ask}; update d [1,6]; {ask}"
    assert results(one, "ideal", subject) == [2, 2, 4, 4, 2, 2, 3, 4]
    two = f"add a [1,1]; add b [1,2]; add c [1,5]; add d [1,7]; slowest; update d [1,5]; {ask}"
    assert results(two, "ideal", subject) == [[1, 1], 1, 2, 4, 4]


@pytest.mark.parametrize("subject", ["", *RIGHT, "pulsar-tree-set"])
def test_ranks_of_a_thousand(subject: str) -> None:
    asked = (1, 2, 499, 500, 501, 502, 999, 1_000)
    profile = subject if subject in PULSAR else "ideal"
    text = "crowd c 1000 [1,1] 1; update c499 [1,1001]; " + "; ".join(f"count c{i - 1}" for i in asked)
    assert results(text, profile, subject) == [1_000 if i == 500 else i - (i > 500) for i in asked]


@pytest.mark.parametrize("subject", ["", *RIGHT])
def test_one_crowd_at_one_position(subject: str) -> None:
    text = "crowd c 300 [7,7] 0; count c0; update c299 [7,8]; count c0; count c299; remove c0; count c1; slowest"
    assert results(text, "ideal", subject) == [300, 299, 300, True, 298, [7, 7]]


@pytest.mark.parametrize("subject", ["", *RIGHT])
def test_position_taken_away(subject: str) -> None:
    start = "add a [1,1]; add b [1,2]; add c [1,3]; add d [1,4]; add e [1,5]; slowest; "
    text = start + "update c null; count e; count c; size; get c; update c [1,3]; count e; add c null; count e"
    assert results(text, "ideal", subject) == [[1, 1], 4, 0, 5, 3, 5, 4]


@pytest.mark.parametrize("subject", ["", *RIGHT])
def test_objects(subject: str) -> None:
    assert results("get a; add a [1,1]; get a; add a [1,2]; get a; slowest", "ideal", subject) == [1, 1, [1, 2]]
    assert results("add a [1,1]; remove a; get a; add a null; get a; list", "ideal", subject) == [True, 2, [2]]
    assert results("update a [1,1]; size; remove a; slowest", "ideal", subject) == [0, False]


@pytest.mark.parametrize("subject", ["", "sorted-cursors", "cursor-heap"])
def test_version_counts_what_changes_a_cursor(subject: str) -> None:
    changes = {"add b null": 2, "update a [1,1]": 2, "update b null": 1, "remove x": 1, "update a [2,2]": 2}
    for change, version in changes.items():
        answer = results(f"add a [1,1]; {change}; oldest", "ideal", subject)[-1]
        assert answer[0] == 1
        assert answer[2] == version
    assert results("oldest", "ideal", subject) == []


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
    on = found.rig(trace.config, found.capabilities) if found else ActiveCursors(trace.config)
    recorded = Recorded(record(trace.operations, on))
    assert first_difference(trace.operations, ActiveCursors(trace.config), recorded) is None


@pytest.mark.parametrize("subject", ["", "sorted-cursors", "cursor-heap"])
def test_durables(subject: str) -> None:
    text = "durables; durable a null; durables; add b [1,1]; remove a; durables; add b [1,2]; durable b null; durables"
    assert results(text, "ideal", subject) == [False, True, True, False, False]


@pytest.mark.parametrize("subject", ["", *RIGHT, "pulsar-list-2025"])
def test_grace(subject: str) -> None:
    profile = subject if subject in PULSAR else "ideal"

    def asked(text: str, grace: int) -> list[Any]:
        trace = from_text(f"active-cursors {profile} grace={grace}; {text}")
        found = resolve(subject) if subject else None
        on = found.rig(trace.config, found.capabilities) if found else CURSORS.model(profile)(trace.config)
        return [s.result for s in record(trace.operations, on) if s.operation.tag == "caches"]

    assert asked("caches; adv 1999; caches; adv 1; caches; add a null; caches", 2_000) == [True, True, False, True]
    leaving = "add a [1,1]; adv 9; remove a; caches; adv 4; remove b; adv 1; caches"
    assert asked(leaving, 5) == [True, False]
    assert asked("caches; add a [1,1]; caches; remove a; caches", 0) == [False, True, False]
    assert asked("caches; add a [1,1]; caches; remove a; caches", -1) == [False, True, False]


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
        assert isinstance(subject.factory(Config(), lambda: 0), Interface)


@pytest.mark.parametrize("subject", bundled(CURSORS), ids=lambda s: s.name)
def test_subject_does_as_its_profile_says(subject: Any) -> None:
    model = CURSORS.model(subject.profiles[0])
    for number in range(80):
        done = walk(CURSORS, walk_seed(11, number), subject.rig, model, subject.capabilities)
        assert done.difference is None


@pytest.mark.parametrize(
    ("profile", "rules"),
    [
        ("pulsar-list-2025", ("CC-09", "CC-10", "CC-14")),
        ("pulsar-heap", ("CC-04", "CC-05", "CC-11", "CC-14")),
        ("pulsar-tree-set", ("CC-04",)),
    ],
)
def test_profile_with_all_rules_kept_is_the_specification(profile: str, rules: tuple[str, ...]) -> None:
    capabilities = structs.replace(resolve(profile).capabilities, versions=False)
    model = CURSORS.model("+".join((profile, *rules)))
    for number in range(60):
        done = walk(CURSORS, walk_seed(3, number), resolve("sorted-cursors").rig, model, capabilities)
        assert done.difference is None


@pytest.mark.volume
@pytest.mark.parametrize(("subject", "rule", "most"), [("pulsar-heap", "CC-11", 10), ("pulsar-list-2025", "CC-10", 7)])
@pytest.mark.parametrize("seed", range(1, 4))
def test_live_defect_is_found_from_nothing(subject: str, rule: str, most: int, seed: int) -> None:
    finding = deviation(resolve(subject), subject, rule, seed)
    assert finding is not None
    assert finding.diagnosis.rules == (rule,)
    assert len(finding.operations) <= most


@pytest.mark.volume
def test_check_tells_what_a_container_does_otherwise(cli: Cli) -> None:
    words = ("check", "--subject", "pulsar-tree-set", "--walks", "200", "--examples", "2")
    status, out, _ = cli(*words, "--profile", "ideal", "--json")
    assert status == 1
    (checked,) = json.loads(out)["subjects"]
    assert [f["rules"] for f in checked["findings"]] == [["CC-04"], ["CC-P14"], ["CC-P16"]]
    assert cli(*words)[0] == 0


# ---- Laws and variations

BROKEN_BY = {
    "CC-07": "slowest-kept",
    "CC-P14": "counts-strictly-before",
    "CC-P15": "sifts-down-only",
    "CC-P16": "without-itself",
    "rename": "ties-in-order-of-names",
    "shift": "ordered-unsigned",
}


def ideal_walk(number: int, capabilities: Any) -> Any:
    """A walk of the specification."""
    return walk(CURSORS, walk_seed(7, number), lambda c, _: ActiveCursors(c), ActiveCursors, capabilities)


@pytest.mark.parametrize("name", [name for name in BROKEN_BY if name != "CC-P15"])
def test_each_law_and_variation_is_broken_by_a_mutant(name: str) -> None:
    subject = resolve(f"mutant:{BROKEN_BY[name]}")
    walks = (ideal_walk(number, subject.capabilities) for number in range(400))
    assert any(name in broken_by(CURSORS, done, subject.rig, subject.capabilities, name) for done in walks)


def test_slowest_position_that_goes_back_is_seen() -> None:
    law = next(law for law in LAWS if law.number == "CC-P15")
    operations = from_text("active-cursors ideal; add a [1,1]; slowest; update a [1,2]; slowest").operations

    def judged(*answers: Any) -> str:
        told = iter(answers)
        steps = [Step(o, next(told) if o.tag == "slowest" else None, ()) for o in operations]
        return law.check(Config(), steps)[2]

    assert judged([1, 1], [1, 2]) == ""
    assert judged([1, 1], [1, 0]) == "the slowest position goes back from [1, 1] to [1, 0]"


def test_all_laws_and_variations_are_proven() -> None:
    assert set(BROKEN_BY) == {law.number for law in LAWS} | {variation.name for variation in VARIATIONS}


@pytest.mark.parametrize("name", RIGHT)
def test_no_law_and_no_variation_is_broken_by_what_is_right(name: str) -> None:
    subject = resolve(name)
    for number in range(30):
        done = ideal_walk(number, subject.capabilities)
        assert broken_by(CURSORS, done, subject.rig, subject.capabilities) == []


def test_nothing_to_vary_is_neither_kept_nor_broken() -> None:
    trace = from_text("active-cursors ideal; size")
    subject = resolve("sorted-cursors")
    shift = next(v for v in VARIATIONS if v.name == "shift")
    recorded = recorder(lambda config: subject.rig(config, subject.capabilities))
    assert kept(shift, trace.config, trace.operations, SeededChoices(0), recorded) is None


# ---- Parts

positions = st.tuples(st.integers(-2, 2), st.integers(-1, 6))
moves = st.tuples(st.sampled_from("abcdefgh"), st.none() | positions, st.sampled_from(("add", "update", "remove")))


@pytest.mark.parametrize("kind", CONTAINERS)
@given(st.lists(st.tuples(moves, st.integers(0, 3)), max_size=60))
def test_container_is_as_a_plain_map_is(kind: Any, steps: list[Any]) -> None:
    container = kind(Config(), lambda: 0)
    at: dict[str, Any] = {}
    for (name, to, what), asked in steps:
        cursor = cursor_bench.Named(name)
        if what == "remove":
            assert container.remove_cursor(name) == (name in at)
            at.pop(name, None)
        elif what == "add":
            container.add(cursor, to)
            at[name] = to
        else:
            container.update_cursor(cursor, to)
            at |= {name: to} if name in at else {}
        placed = [p for p in at.values() if p is not None]
        if asked == 0:
            assert container.get_slowest_cursor_position() == min(placed, default=None)
        if asked == 1:
            for other in "abcdefgh":
                rank = container.get_number_of_cursors_at_same_position_or_before(cursor_bench.Named(other))
                own = at.get(other)
                assert rank == (sum(p <= own for p in placed) if own is not None else 0)
        assert container.size() == len(at)
        assert sorted(cursor.name for cursor in container) == sorted(at)


@given(st.lists(st.tuples(st.integers(0, 40), st.booleans()), max_size=80))
def test_mended_heap_keeps_its_order(steps: list[tuple[int, bool]]) -> None:
    heap = ModelHeap()
    for number, (at, out) in enumerate(steps):
        if out and heap.items:
            heap.remove(heap.items[at % len(heap.items)], mending=True)
        else:
            heap.add(HeapItem(number, (1, at), False))
        assert [item.at for item in heap.items] == list(range(len(heap.items)))
        for item in heap.items[1:]:
            above = heap.items[(item.at - 1) // 2]
            assert above.position is not None
            assert item.position is not None
            assert above.position <= item.position


# ---- Cost


def test_positions_are_counted_as_they_are_compared() -> None:
    one, other = Counted((1, 2)), Counted((1, 3))
    Counted.comparisons = 0
    assert (one < other, one <= other, one > other, one >= other, one == other, one != other) == (
        (True, True, False, False, False, True)
    )
    assert Counted.comparisons == 6
    assert {one: 1}[Counted((1, 2))] == 1


@pytest.mark.volume
@pytest.mark.parametrize("name", CANDIDATES)
def test_costs_grow_as_they_may(name: str) -> None:
    (table,) = rows([name], (10, 100, 1_000))
    assert [row for row in table if not row.passed] == []
    asked = 3 if CANDIDATES[name].rank else 2
    assert len(table) == len(WORKLOADS) * asked * 3
    assert all(row.low <= row.nanoseconds <= row.high for row in table)


def test_cost_that_grows_faster_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = structs_of(CANDIDATES["cursor-heap"], rank="log n")
    monkeypatch.setitem(CANDIDATES, "cursor-heap", slow)
    (table,) = rows(["cursor-heap"], (10, 1_000))
    assert {(row.workload, row.operation) for row in table if not row.passed} == {("random", "rank")}


def structs_of(candidate: cursor_bench.Candidate, rank: str) -> cursor_bench.Candidate:
    """A candidate with another growth of ranks."""
    return cursor_bench.Candidate(candidate.factory, candidate.update, candidate.slowest, rank)


def few_rows(names: Any) -> Any:
    """A table that takes no time."""
    for name in names:
        yield [
            CursorRow(name, workload, operation, n, 2.0, 10.0, 9.0, 11.0, "log n", 3.0 if name != "lazy-list" else 1.0)
            for workload in WORKLOADS
            for operation in ("update", "slowest", "rank")
            for n in cursor_bench.SIZES
        ]


def test_bench_prints_a_table_or_json(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cursor_bench, "rows", few_rows)
    status, out, _ = cli("bench", "cursors", "--container", "sorted-cursors")
    assert status == 0
    assert out.count("sorted-cursors") == 6
    status, out, _ = cli("bench", "cursors", "--json")
    assert status == 1
    told = json.loads(out)["rows"]
    assert {row["container"] for row in told if not row["passed"]} == {"lazy-list"}


def test_bench_refuses_an_unknown_container(cli: Cli) -> None:
    status, out, err = cli("bench", "cursors", "--container", "heap")
    assert (status, out) == (2, "")
    assert err.startswith("broker-tck: unknown container 'heap'; there are: sorted-cursors, ")


@plots
def test_bench_draws(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cursor_bench, "rows", few_rows)
    plot = tmp_path / "cursors.svg"
    assert cli("bench", "cursors", "--container", "sorted-cursors", "--plot", plot)[0] == 0
    assert "</svg>" in plot.read_text(encoding="utf-8")


def test_capabilities_are_full_unless_declared() -> None:
    assert Capabilities() == Capabilities(ranks=True, grace=True, versions=True, durables=True)
    assert resolve("pulsar-heap").left_out == ["ranks=false", "grace=false"]
