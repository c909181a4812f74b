"""The entry cache: recorded traces, worked examples, profiles, laws, and the bench of its passes."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import count as count_from
from pathlib import Path
from typing import Any, ClassVar

import pytest
from conftest import Cli
from hypothesis import given
from hypothesis import strategies as st
from kit import ONE_IN, on_linux, plots, replay

from broker_tck import fixtures
from broker_tck.bench import cache as cache_bench
from broker_tck.bench.cache import POLICIES
from broker_tck.implementations.entry_cache.removal_queue import BLANKS, RemovalQueue, Slot, TopicCache
from broker_tck.implementations.interface import Entry, IllegalArgumentException, Position
from broker_tck.model.entry_cache import PROFILES
from broker_tck.model.entry_cache.releases import Legacy, Queue
from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.model.rules import rules_of
from broker_tck.properties.contracts.entry_cache.operations import Capabilities, Config, Range, Remove
from broker_tck.properties.contracts.entry_cache.rig import Rig
from broker_tck.properties.engine.check import record
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import Subject, bundled, declared, resolve
from broker_tck.properties.engine.trace import Trace, from_text, load
from broker_tck.properties.engine.walk import Walk, walk, walk_seed
from broker_tck.properties.explain.checked import PARTS, check_subject
from broker_tck.properties.mistakes.book import Way, deviations_of
from broker_tck.properties.search.budget import Budget
from broker_tck.properties.search.exercised import Exercised
from broker_tck.properties.search.failing import broken_by
from broker_tck.properties.search.replay import MODEL, declaring, witnesses
from broker_tck.properties.search.run import Run, count, to_exercise

CONTRACT = CONTRACTS["entry-cache"]
STEPS = {"pip-430": 8_160, "pip-430-5.0": 4_040, "pip-430-5.0-insert": 2_038, "pip-430-5.0-spoil": 473}
"""The recorded steps, by file."""
TTL = 1_000
OTHERS = 8
"""So many walks see that a profile breaks nothing that it does not name; stored traces see what it names."""


def walked(subject: Subject, number: int) -> Walk:
    """A whole walk of the subject's profile, for a subject to make alone."""
    model = CONTRACT.model(subject.profiles[0])
    return walk(CONTRACT, walk_seed(7, number), lambda config, _: model(config), model, subject.capabilities)


# ---- Recorded traces


@cache
def recorded(name: str) -> tuple[Trace, ...]:
    return tuple(load(str(fixtures.folder() / "entry-cache" / f"{name}.jsonl")))


def profile_of(name: str) -> str:
    """The profile that a file was recorded for."""
    (profile,) = {trace.profile for trace in recorded(name)}
    return profile


def test_these_files_were_recorded() -> None:
    assert {path.stem for path in fixtures.golden("entry-cache")} == set(STEPS)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "profile"), [*((name, "") for name in STEPS), ("pip-430", "ideal")])
def test_model_and_subjects_do_as_the_broker_did(name: str, profile: str) -> None:
    """Nobody releases once too often in the traces of 4.x, so that they are those of the ideal as well."""
    profile = profile or profile_of(name)
    subjects = declaring(CONTRACT, profile)
    assert subjects
    assert name.startswith(profile) or profile == "ideal"
    assert sum(len(trace.operations) for trace in recorded(name)) == STEPS[name]
    replays = [replay(trace, subjects, profile) for trace in recorded(name)[::ONE_IN]]
    assert [d for each in replays for d in each.disagreements] == []
    assert sum(each.agreed for each in replays) == sum(each.steps for each in replays)
    assert all(outcome is not None for trace in recorded(name) for outcome in trace.outcomes)


IN_50 = deviations_of(CONTRACT.model("pip-430-5.0"))


@pytest.mark.parametrize("way", IN_50, ids=str)
def test_recorded_traces_show_each_deviation_of_5_0(way: Way) -> None:
    traces = (trace for name in STEPS if profile_of(name) == "pip-430-5.0" for trace in recorded(name))
    wrong = way.applied_to(CONTRACT.model("pip-430-5.0"))
    assert any(differs_from_record(trace, wrong) for trace in traces)


def differs_from_record(trace: Trace, model: Any) -> bool:
    """Whether a model does otherwise than was recorded."""
    steps = record(trace.operations, model(trace.config))
    said = [[s.result["error"] if isinstance(s.result, dict) else s.result, *s.seen] for s in steps]
    told = [[o[0]["error"] if isinstance(o[0], dict) else o[0], *o[1:]] for o in trace.outcomes if o is not None]
    return said != told


def altered(outcome: list[Any], which: int) -> list[Any]:
    """The outcome with the result (0), the sizes (1) or the references (2) changed."""
    changed: list[Any] = json.loads(json.dumps(outcome))
    if which == 0:
        changed[0] = None if changed[0] is not None else False
    elif which == 1:
        changed[1][1][1] += 1
    else:
        changed[2] += 1
    return changed


@pytest.mark.parametrize("which", [0, 1, 2], ids=["result", "caches", "references"])
def test_altered_outcome_is_found_where_it_is(which: int) -> None:
    for number, trace in enumerate(recorded("pip-430")[:60]):
        at = (7 * number) % len(trace.operations)
        outcomes = [*trace.outcomes[:at], altered(trace.outcomes[at] or [], which), *trace.outcomes[at + 1 :]]
        wrong = Trace(trace.contract, trace.profile, trace.config, trace.operations, outcomes, trace.where)
        (found,) = replay(wrong, []).disagreements
        assert (found.who, found.step, found.observed) == (MODEL, at, ("result", "caches", "references")[which])


# ---- Worked examples, on the model and on the subject


def both(config: Config, profile: str = "pip-430") -> list[Any]:
    """A model and a subject of a profile."""
    subject = next(s for s in bundled(CONTRACT) if profile in s.profiles)
    return [CONTRACT.model(profile)(config), subject.rig(config, subject.capabilities)]


@pytest.fixture(params=[0, 1], ids=["model", "subject"])
def made(request: Any) -> Any:
    """Makes the model of a configuration, or the subject."""
    return lambda profile="pip-430", **fields: both(Config(**fields), profile)[request.param]


def filled(on: Any, sizes: list[int], cache: int = 0, expected: int = 0) -> None:
    """Insert entries 0, 1, … of these sizes into ledger 1."""
    for entry, size in enumerate(sizes):
        assert on.put(cache, 1, entry, size, expected)


def sizes_of(on: Any) -> list[list[int]]:
    return [list(sizes) for sizes in on.seen()[0]]


def refused(on: Any, asked: int) -> str:
    """The error of a size pass that is asked for nothing."""
    (step,) = record(from_text(f"entry-cache; size {asked}").operations, on)
    return str(step.result["error"])


def test_size_pass_frees_what_is_asked_for_at_least(made: Any) -> None:
    on = made()
    filled(on, [4, 3, 3, 5])
    assert on.evict_size(5) == [2, 7]
    assert sizes_of(on)[0] == [2, 8]
    assert on.evict_size(100) == [2, 8]
    assert refused(on, 0) == refused(on, -1) == "IllegalArgumentException"


def test_size_passes_and_a_removal_among_a_hundred_entries(made: Any) -> None:
    on = made()
    sizes = [len(str(number)) for number in range(100)]
    filled(on, sizes)
    assert on.size_of_all() == 190
    assert [on.evict_size(asked) for asked in (1, 10, 178)] == [[1, 1], [10, 11], [89, 178]]
    filled(on, sizes)
    assert on.remove(0, 1, 10, 1, 20, 0) == [10, 20]


def life(on: Any, reads: tuple[int, ...] = ()) -> int:
    """When an entry that was inserted at 0 is gone, with a time pass every 10 ms and reads at these times."""
    for now in range(0, 20_000, 10):
        if now in reads:
            assert on.get(0, 1, 0) == "hit"
            on.read(0, 1, 0)
        if on.evict_old(TTL) != [0, 0]:
            return now
        on.advance(10)
    raise AssertionError("the entry stays")


@pytest.mark.parametrize(
    ("expected", "most", "extend", "reads", "gone"),
    [
        pytest.param(0, 5, True, (), 1_010, id="no read expected"),
        pytest.param(1, 5, True, (), 6_060, id="one expected, none made"),
        pytest.param(1, 0, True, (), 1_010, id="one expected, no requeueing allowed"),
        pytest.param(1, 5, True, (100,), 2_020, id="one expected and made, access extends"),
        pytest.param(1, 5, False, (100,), 1_010, id="one expected and made, access does not extend"),
        pytest.param(3, 5, True, (500, 1_500, 2_500), 4_040, id="three expected and made, access extends"),
        pytest.param(3, 5, False, (500, 1_500, 2_500), 3_030, id="three expected and made, access does not extend"),
        pytest.param(2, 5, True, (500,), 6_060, id="two expected, one made, access extends"),
        pytest.param(2, 5, False, (500,), 6_060, id="two expected, one made, access does not extend"),
        pytest.param(1_000, 5, True, tuple(range(500, 6_001, 500)), 7_070, id="many more expected than made"),
    ],
)
def test_how_long_an_entry_lives(
    made: Any, expected: int, most: int, extend: bool, reads: tuple[int, ...], gone: int
) -> None:
    on = made(max_requeue_count=most, extend_ttl_of_recently_accessed=extend)
    on.put(0, 1, 0, 10, expected)
    assert life(on, reads) == gone
    assert on.read(0, 1, 0) == (expected - len(reads) - 1 if expected else "none")


@pytest.mark.parametrize(
    ("most", "asked", "removed", "left"),
    [(1, 20, [1, 30], [2, 90]), (5, 35, [2, 70], [1, 50]), (1, 120, [3, 120], [0, 0]), (5, 120, [3, 120], [0, 0])],
)
def test_what_is_protected_goes_last(made: Any, most: int, asked: int, removed: list[int], left: list[int]) -> None:
    on = made(max_requeue_count=most)
    for entry, size, expected in ((1, 40, 0), (2, 50, 3), (3, 30, 0)):
        on.put(0, 1, entry, size, expected)
    on.get(0, 1, 1)
    assert on.evict_size(asked) == removed
    assert sizes_of(on)[0] == left
    if asked == 35:
        assert on.range(0, 1, 0, 1, 9) == [[1, 2]]


def test_entry_that_is_left_was_requeued_once() -> None:
    model = EntryCaches(Config(max_requeue_count=5))
    for entry, size, expected in ((1, 40, 0), (2, 50, 3), (3, 30, 0)):
        model.put(0, 1, entry, size, expected)
    model.get(0, 1, 1)
    model.evict_size(35)
    assert [entry.requeued for entry in model.store.queue] == [1]


def test_size_passes_use_up_the_requeueings(made: Any) -> None:
    on = made(max_requeue_count=5, extend_ttl_of_recently_accessed=False)
    on.put(0, 9, 0, 50, 3)
    removed = []
    for entry in range(8):
        on.put(0, 1, entry, 30, 0)
        removed.append(on.evict_size(20))
    assert removed == [*[[1, 30]] * 5, [1, 50], [1, 30], [1, 30]]
    assert on.range(0, 1, 0, 9, 9) == [[1, 7]]


def test_size_pass_is_made_above_the_trigger_and_goes_down_to_the_watermark(made: Any) -> None:
    on = made(max_size=1_000, watermark=90)
    filled(on, [10] * 98)
    assert (on.background(), on.size_of_all()) == (0, 980)
    on.put(1, 1, 0, 1, 0)
    assert (on.background(), on.size_of_all()) == (1, 891)
    assert on.counters() == [99, 9, 1]


def test_requeued_entry_is_as_young_as_its_requeueing(made: Any) -> None:
    on = made(extend_ttl_of_recently_accessed=False)
    for entry, expected in ((0, 1), (1, 0), (2, 0)):
        on.put(0, 1, entry, 1, expected)
        on.advance(10)
    removed = []
    for now in (1_015, 1_025, 2_015, 2_016):
        on.advance(now - (30 if not removed else (1_015, 1_025, 2_015)[len(removed) - 1]))
        removed.append(on.evict_old(TTL))
    assert removed == [[1, 1], [1, 1], [0, 0], [0, 0]]
    assert on.range(0, 1, 0, 1, 9) == [[1, 0]]
    if isinstance(on, EntryCaches):
        assert [(entry.requeued, entry.stamp) for entry in on.store.queue] == [(2, 2_016)]


def test_what_has_left_its_cache_is_dropped(made: Any) -> None:
    on = made()
    filled(on, [10, 10])
    on.invalidate(0, 1, 1)
    assert sizes_of(on)[0] == [1, 10]
    if isinstance(on, EntryCaches):
        assert len(on.store.queue) == 2
    assert on.evict_size(1) == [1, 10]
    if isinstance(on, EntryCaches):
        assert len(on.store.queue) == 0


def test_exactly_as_old_stays(made: Any) -> None:
    on = made()
    filled(on, [1])
    on.advance(1_000)
    assert on.evict_old(TTL) == [0, 0]
    on.advance(1)
    assert on.evict_old(TTL) == [1, 1]


def test_the_largest_cache_gives_its_lowest_positions(made: Any) -> None:
    on = made("legacy", max_size=10, watermark=80)
    assert on.put(0, 1, 1, 4, 0)
    assert on.put(0, 1, 0, 3, 0)
    for entry in range(3):
        assert on.put(1, 2, entry, 1, 0)
    assert on.size_of_all() == 10
    assert not on.put(1, 2, 3, 1, 0)
    assert on.background() == 1
    assert on.range(0, 1, 0, 1, 9) == [[1, 1]]
    assert (on.size_of_all(), on.counters()[0]) == (7, 5)
    on.reopen(0)
    assert on.size_of_all() == 3
    on.invalidate(1, 2, 1)
    assert on.size_of_all() == 2
    assert on.counters() == [5, 3, 1]


def test_references_and_what_readers_hold(made: Any) -> None:
    on = made(extend_ttl_of_recently_accessed=False)
    for size in (1, 2, 3, 4):
        on.put(0, 1, size, size, 0)
        assert on.hold(0, 1, size) == "hit"
        on.advance(1)
    assert on.evict_old(1) == [3, 6]
    assert sizes_of(on)[0] == [1, 4]
    assert on.seen()[1] == 4, "what was evicted is still held"
    assert [held.count for held in on.holds] == [1, 1, 1, 2]
    assert [on.free() for _ in range(5)] == [True] * 4 + [False]
    assert on.seen()[1] == 1


@pytest.mark.parametrize(
    ("sizes", "asked"), [((600, 300, 100), [100]), ((400, 350, 250), [53, 46]), ((300, 300, 300), [50, 50])]
)
def test_size_pass_is_shared_among_the_largest_caches(made: Any, sizes: tuple[int, ...], asked: list[int]) -> None:
    on = made("legacy")
    for topic, size in enumerate(sizes):
        for entry in range(size):
            on.put(topic, 1, entry, 1, 0)
    assert on.evict_size(100) == [sum(asked)] * 2
    left = [size for _, size in sizes_of(on)]
    assert [a - b for a, b in zip(sizes, left, strict=True)] == [*asked, *[0] * (3 - len(asked))]


def test_range_over_pages(made: Any) -> None:
    on = made()
    for ledger, entry in ((1, 62), (1, 63), (1, 64), (1, 192), (2, 0), (2, 1)):
        assert on.put(0, ledger, entry, len(str(entry)), 0)
    assert on.remove(0, 1, 0, 1, 64, 0) == [2, 4]
    assert on.range(0, 1, 0, 2, 1) == [[1, 64], [1, 192], [2, 0], [2, 1]]


def results(text: str, profile: str, on: int) -> list[Any]:
    """What each operation of a trace answers on the model (0), or on the subject (1) of a profile."""
    trace = from_text(f"entry-cache {profile}; {text}")
    return [step.result for step in record(trace.operations, both(trace.config, profile)[on])]


@pytest.mark.parametrize("on", [0, 1], ids=["model", "subject"])
@pytest.mark.parametrize(("profile", "answer"), [("ideal", "miss"), ("pip-430", "hit"), ("queue", "hit")])
def test_ledgers_below_zero_are_invalidated_as_others_are(profile: str, answer: str, on: int) -> None:
    assert results("put 0 -5 0 10 0; invalidate 0 1 1; get 0 -5 0", profile, on)[-1] == answer


@pytest.mark.parametrize("on", [0, 1], ids=["model", "subject"])
@pytest.mark.parametrize(
    ("text", "in_42", "in_50"),
    [
        pytest.param("put 0 0 0 0 0; expect 0 0 0; pinned", ["none", [1, 0]], [1, [1, 0]], id="a count of 0"),
        pytest.param("put 0 0 0 0 0; pinned", [[1, 0]], [[0, 0]], id="it expects no read"),
        pytest.param("put 0 0 0 0 -1; expect 0 0 0", ["none"], ["none"], id="below 0 it is none"),
        pytest.param("put 0 0 0 0 1; read 0 0 0; read 0 0 0", [0, -1], [0, 0], id="a floor"),
        pytest.param(
            "put 0 0 0 1 1; put 1 0 0 1 1; size 1; put 0 0 0 0 0; size 1",
            [[1, 1], True, [1, 1]],
            [[1, 1], True, [2, 1]],
            id="one round",
        ),
        pytest.param("put 0 0 0 1 3; put 0 0 0 1 0; pinned", [False, [1, 1]], [False, [0, 0]], id="taken over"),
        pytest.param("put 0 0 0 1 0; put 0 0 0 1 2; pinned; read 0 0 0", [[1, 1], "none"], [[1, 1], 1], id="none over"),
        pytest.param("put 0 0 0 1 3; put 0 0 0 1 -1; read 0 0 0", [False, 2], [False, "none"], id="no count over one"),
        pytest.param(
            "put 0 0 0 7 0; spoil 0 0 0; put 0 0 0 7 1; pinned",
            [False, [1, 7]],
            [False, [0, 0]],
            id="not by what is freed",
        ),
        pytest.param("put 0 0 0 10 0; spoil 0 0 0; size 1", [True, [0, 0]], [True, [0, 0]], id="once too often"),
        pytest.param(
            "put 0 2 64 10 1; spoil 0 2 64; clear 0; pinned; size 1; pinned; total",
            [True, [0, 0], [1, 10], [0, 0], [0, 0], 10],
            [True, [0, 0], [1, 10], [0, 0], [0, 0], 10],
            id="it stays in the queue",
        ),
        pytest.param(
            "put 0 0 0 10 0; spoil 0 0 0; clear 0; adv 10; put 0 0 0 5 0; ttl 5; get 0 0 0; size 1; total",
            [[0, 0], None, True, [0, 0], "hit", [1, 5], 10],
            [[0, 0], None, True, [0, 0], "hit", [1, 5], 10],
            id="another in its place",
        ),
    ],
)
def test_what_releases_do(text: str, in_42: list[Any], in_50: list[Any], on: int) -> None:
    assert results(text, "pip-430", on)[-len(in_42) :] == in_42
    assert results(text, "pip-430-5.0", on)[-len(in_50) :] == in_50


@pytest.mark.parametrize("on", [0, 1], ids=["model", "subject"])
def test_ideal_takes_the_size_off_whatever_became_of_the_value(on: int) -> None:
    text = "put 0 2 64 10 1; spoil 0 2 64; clear 0; pinned; size 1; total"
    assert results(text, "ideal", on)[1:] == [True, [1, 10], [0, 0], [0, 0], 0]


@pytest.mark.parametrize("profile", ["pip-430", "pip-430-5.0"])
def test_count_that_was_handed_over_is_one_for_both(profile: str) -> None:
    model, rig = both(Config(), profile)
    for on in (model, rig):
        assert on.put(0, 1, 1, 1, 3)
        assert not on.put(0, 1, 1, 1, 7)
        assert on.read(0, 1, 1) == {"pip-430": 2, "pip-430-5.0": 6}[profile]


@pytest.mark.parametrize(("profile", "requeued"), [("pip-430", 4), ("pip-430-5.0", 2)])
def test_pass_in_steps_goes_round_as_often_as_one_at_once(profile: str, requeued: int) -> None:
    text = f"put 0 0 0 1 3; put 0 0 1 1 3; begin-size 1 0; {'step 0; ' * 20}"
    setting = "max_requeue_count=2 extend_ttl_of_recently_accessed=false"
    trace = from_text(f"entry-cache {profile} {setting}; {text}")
    steps = [step.result for step in record(trace.operations, CONTRACT.model(profile)(trace.config))]
    words = [result[0] for result in steps if isinstance(result, list)]
    assert (words.count("requeues"), words.count("removes")) == (requeued, 1)
    assert ["ends", [1, 1]] in steps


# ---- Ranges whose ends are the wrong way round, and messages of errors


class Inconsistent(TopicCache):
    """Throws where a range has its ends the wrong way round, as a sorted map does, with an address in the message."""

    def get_range(self, first: Position, last: Position) -> list[Entry]:
        self.refuse(first, last)
        return super().get_range(first, last)

    def remove_range(self, first: Position, last: Position, last_inclusive: bool) -> tuple[int, int]:
        self.refuse(first, last)
        return super().remove_range(first, last, last_inclusive)

    def refuse(self, first: Position, last: Position) -> None:
        if first > last:
            raise IllegalArgumentException("inconsistent range")


class Sorted(RemovalQueue):
    """Has caches that do so."""

    cache_type = Inconsistent


def test_no_cache_is_asked_for_a_range_the_wrong_way_round() -> None:
    text = "put 0 1 1 10 0; range 0 1 2 1 1; remove 0 2 0 1 9 1; range 0 1 1 1 1"
    trace = from_text(f"entry-cache; {text}")
    stepped = from_text("entry-cache; put 0 1 1 10 0; begin-remove 0 2 0 1 9 1 0; step 0")
    rig = declared("kit:sorted", Sorted, CONTRACT).rig(Config(), Capabilities(steps=False))
    for on in (EntryCaches(Config()), rig):
        assert [s.result for s in record(trace.operations, on)] == [True, [], [0, 0], [[1, 1]]]
    of_steps = resolve("stepwise-queue")
    for made in (CONTRACT.model("ideal")(Config()), of_steps.rig(Config(), of_steps.capabilities)):
        assert [s.result for s in record(stepped.operations, made)] == [True, True, ["ends", [0, 0]]]


@pytest.mark.slow
def test_cache_that_throws_at_such_a_range_conforms() -> None:
    subject = declared("kit:sorted", Sorted, CONTRACT)
    reversed_ranges = 0
    for number in range(60):
        done = walk(CONTRACT, walk_seed(7, number), subject.rig, EntryCaches, subject.capabilities)
        assert done.difference is None
        ranges = [(o.l1, o.e1) > (o.l2, o.e2) for o in done.operations if isinstance(o, Range | Remove)]
        reversed_ranges += sum(ranges)
    assert reversed_ranges > 20


class SaysWhichObject(RemovalQueue):
    """Names an object in its messages, as the class of another position than its value does."""

    def evict_least_accessed_entries(self, size: int) -> tuple[int, int]:
        if size <= 0:
            raise IllegalArgumentException(f"Value@{next(NUMBERS):x} wants {size} bytes")
        return super().evict_least_accessed_entries(size)


class CannotSay(TopicCache):
    """Fails where it is looked at, once something is cached."""

    def get_size(self) -> int:
        if self.entries:
            raise RuntimeError(f"TopicCache@{next(NUMBERS):x}")
        return super().get_size()


class FailsWhenSeen(RemovalQueue):
    """Has caches that cannot be looked at."""

    cache_type = CannotSay


NUMBERS = count_from(1)


@pytest.mark.slow
@pytest.mark.parametrize("subject", [SaysWhichObject, FailsWhenSeen])
def test_no_law_reads_messages(subject: type[RemovalQueue]) -> None:
    made = declared("kit:says", subject, CONTRACT)
    first = next(NUMBERS)
    for number in range(10):
        done = walked(made, number)
        assert "@" not in str(record(done.operations, made.rig(done.config, made.capabilities)))
        assert broken_by(CONTRACT, done, made.rig, made.capabilities) == []
    assert next(NUMBERS) - first > 10


class Plain(RemovalQueue):
    """Has nothing that it need not have."""

    capabilities: ClassVar[dict[str, object]] = {
        "manager": False,
        "settings": False,
        "pinned": False,
        "reads": False,
        "steps": False,
    }

    def __getattribute__(self, name: str) -> Any:
        assert name not in {"do_cache_eviction", "get_non_evictable_size", "update_max_requeue_count", "get_counters"}
        return super().__getattribute__(name)


@pytest.mark.slow
def test_nothing_is_asked_for_that_a_subject_lacks() -> None:
    checked = check_subject(declared("kit:plain", Plain, CONTRACT), "ideal", Budget(0, 120, 2))
    assert checked.green, checked.unseen


RELEASED = Capabilities(manager=False, reads=False, steps=False)
"""What the broker's classes have: the caches and their queue."""


@pytest.mark.parametrize(
    ("profile", "golden", "rules", "deviations"),
    [
        pytest.param("pip-430", 8_160, 32, 2, marks=pytest.mark.deep),
        pytest.param("pip-430-5.0", 6_551, 31, 8, marks=pytest.mark.slow),
    ],
)
def test_caches_and_queue_alone_can_be_checked(profile: str, golden: int, rules: int, deviations: int) -> None:
    """The released caches and queue, without the rest of a cache, pass the check, with every rule and deviation."""
    subject = replace(resolve(profile), capabilities=RELEASED)
    checked = check_subject(subject, profile, Budget(0, 150, 2))
    assert checked.green, checked.complaints
    assert (checked.golden_steps, checked.golden_agreed) == (golden, golden)
    assert len(to_exercise(subject, checked.model)) == len(checked.exercised) == rules
    assert [*checked.deviations.values()] == [True] * deviations


@pytest.mark.deep
def test_released_queue_is_told_what_it_does_otherwise_than_the_ideal() -> None:
    """A check of the released queue against the ideal profile names the two rules that it breaks."""
    subject = replace(resolve("pip-430"), capabilities=RELEASED)
    checked = check_subject(subject, "ideal", Budget(0, 100, 2), parts=PARTS[1:])
    assert not checked.green
    found = {finding.rule: finding for finding in checked.findings}
    assert {*found} == {"EC-12", "EC-26"}
    assert [o.tag for o in found["EC-12"].operations][:2] == ["put", "spoil"]


# ---- Profiles


@pytest.mark.slow
@pytest.mark.parametrize("subject", bundled(CONTRACT), ids=lambda subject: subject.name)
def test_rules_are_moot_exactly_where_they_are_never_met(subject: Subject) -> None:
    model = CONTRACT.model(subject.profiles[0])
    run, counting = Run(subject, subject.profiles[0], 0), Exercised(model)
    for number in range(60):
        count(run, counting, walked(subject, number))
    clauses = {rule.number for rule in rules_of(model) if rule.checkable and not rule.law}
    assert {number for number in model.MOOT if number in clauses and run.met[number]} == set()
    needed = {rule.number for rule in to_exercise(subject, model)} & clauses
    assert needed - set(run.exercised) == set()


def test_every_profile_has_the_rules_of_the_specification() -> None:
    specified = {rule.number for rule in rules_of(EntryCaches)}
    for name, model in PROFILES.items():
        assert {rule.number for rule in rules_of(model)} - specified <= {f"EC-6{n}" for n in range(5)}
        assert name == model.PROFILE


puts = st.tuples(st.just("put"), st.integers(0, 5), st.integers(1, 9))
gets = st.tuples(st.just("get"), st.integers(0, 5), st.just(0))
passes = st.tuples(st.just("size"), st.just(0), st.integers(1, 25))
scripts = st.lists(st.one_of(puts, gets, passes), max_size=60)


class Clock:
    """Second chance: entries in a circle, each with a bit that a read sets and the hand clears."""

    def __init__(self) -> None:
        self.circle: deque[list[int]] = deque()

    def put(self, entry: int, size: int) -> None:
        if all(entry != other[0] for other in self.circle):
            self.circle.append([entry, size, 0])

    def get(self, entry: int) -> None:
        for other in self.circle:
            other[2] |= other[0] == entry

    def evict(self, asked: int) -> None:
        while self.circle and asked > 0:
            entry, size, bit = self.circle.popleft()
            if bit:
                self.circle.append([entry, size, 0])
            else:
                asked -= size


def run_script(model: Any, script: list[tuple[str, int, int]]) -> Iterator[list[list[int]]]:
    """What is cached after each step of a script; reads are expected, and never made."""
    for what, entry, n in script:
        if what == "put":
            model.put(0, 1, entry, n, 3)
        elif what == "get":
            model.get(0, 1, entry)
        else:
            model.evict_size(n)
        yield model.range(0, 1, 0, 1, 9) if isinstance(model, Queue) else kept(model)


def kept(model: EntryCaches) -> list[list[int]]:
    """The positions cached, without reading them."""
    return [[*position] for position in sorted(model.caches[0].entries)]


@given(scripts)
def test_p20_without_requeueing_it_is_first_in_first_out(script: list[tuple[str, int, int]]) -> None:
    config = Config(max_requeue_count=0, extend_ttl_of_recently_accessed=False)
    assert [*run_script(EntryCaches(config), script)] == [*run_script(Queue(config), script)]


@given(scripts)
def test_p20_with_access_alone_it_is_second_chance(script: list[tuple[str, int, int]]) -> None:
    clock, model = Clock(), EntryCaches(Config(max_requeue_count=0, extend_ttl_of_recently_accessed=True))
    for step, cached in zip(script, run_script(model, script), strict=True):
        what, entry, n = step
        if what == "put":
            clock.put(entry, n)
        elif what == "get":
            clock.get(entry)
        else:
            clock.evict(n)
        assert cached == sorted([1, other[0]] for other in clock.circle)
        assert [entry.position[1] for entry in model.store.queue] == [other[0] for other in clock.circle]


def test_in_legacy_nobody_evicts_what_is_inserted_into_a_cache_that_was_left(made: Any) -> None:
    on = made("legacy")
    on.reopen(0)
    assert on.late(0, 1, 1, 10, 0)
    on.advance(2 * TTL)
    assert (on.evict_old(TTL), on.evict_size(10), on.size_of_all()) == ([0, 0], [0, 0], 10)
    queue = made()
    queue.reopen(0)
    assert queue.late(0, 1, 1, 10, 0)
    queue.advance(2 * TTL)
    assert (queue.evict_old(TTL), queue.size_of_all()) == ([1, 10], 0)


def test_in_legacy_an_old_entry_behind_a_young_one_stays(made: Any) -> None:
    on = made("legacy")
    on.put(0, 1, 5, 1, 0)
    on.advance(600)
    on.put(0, 1, 2, 1, 0)
    on.advance(600)
    assert on.evict_old(TTL) == [0, 0]
    on.advance(401)
    assert on.evict_old(TTL) == [2, 2]
    assert isinstance(both(Config(), "legacy")[0], Legacy)


# ---- Laws and variations


def test_every_law_is_a_rule() -> None:
    laws = {rule.number for rule in EntryCaches.UNEMBODIED if rule.law} | {"EC-12"}
    assert {law.number for law in CONTRACT.laws} == laws | {"IL-4"}, "which is proven where calls overlap"


@pytest.mark.parametrize("subject", bundled(CONTRACT), ids=lambda subject: subject.name)
def test_a_profile_breaks_what_it_says_that_it_breaks(subject: Subject) -> None:
    (profile,) = subject.profiles
    model = CONTRACT.model(profile)
    stored = [Walk(0, trace.config, [*trace.operations], None) for trace in witnesses(subject, profile)]
    made = [walked(subject, number) for number in range(OTHERS)]
    broken = set[str]()
    for done in [*stored, *made]:
        broken.update(broken_by(CONTRACT, done, subject.rig, subject.capabilities))
    assert broken - {*model.MOOT} == {*model.BREAKS}


# ---- The queue of removal


def test_queue_is_rid_of_what_has_left_when_it_is_the_greater_part() -> None:
    rig = Rig(RemovalQueue, Config(), Capabilities())
    queue = rig.broker
    assert isinstance(queue, RemovalQueue)
    for entry in range(2 * BLANKS + 10):
        rig.put(0, 1, entry, 1, 0)
    rig.invalidate(0, 1, BLANKS)
    assert len(queue.queue) == 2 * BLANKS + 10
    rig.invalidate(0, 1, BLANKS + 6)
    assert len(queue.queue) == BLANKS + 4
    assert rig.evict_size(BLANKS + 4) == [BLANKS + 4, BLANKS + 4]
    assert (rig.size_of_all(), rig.seen()) == (0, ([[0, 0]] * 3, 0))


def test_value_of_another_position_changes_nothing() -> None:
    for subject in bundled(CONTRACT):
        rig = subject.rig(Config(), subject.capabilities)
        (step,) = record(from_text("entry-cache; misput 0 1 1").operations, rig)
        assert (step.result["error"], step.seen) == ("IllegalArgumentException", ([[0, 0]] * 3, 0))


# ---- The bench of passes

NUMBER = 2_000


@on_linux
@pytest.mark.parametrize("policy", POLICIES)
def test_every_entry_is_where_it_has_to_be(policy: str) -> None:
    measurement = cache_bench.measure(policy, NUMBER, 10)
    assert (measurement.policy, measurement.entries, measurement.caches) == (policy, NUMBER, 10)
    assert measurement.content_verified
    assert measurement.bytes_an_entry == measurement.growth_bytes / NUMBER


class LosesOne(RemovalQueue):
    """Forgets a slot that it should have queued."""

    def added(self, slot: Slot) -> None:
        super().added(slot)
        if len(self.queue) == 50:
            self.queue.pop()


class TakesTheLast(RemovalQueue):
    """Begins at the tail."""

    def _take_from_head(self, before: float, wanted: float) -> tuple[int, int]:
        self.queue.reverse()
        return super()._take_from_head(before, wanted)


class SaysMore(RemovalQueue):
    """Says that it removed one entry more."""

    def evict_least_accessed_entries(self, size: int) -> tuple[int, int]:
        entries, removed = super().evict_least_accessed_entries(size)
        return entries + 1, removed


@pytest.mark.slow
@on_linux
@pytest.mark.parametrize("wrong", [LosesOne, TakesTheLast, SaysMore])
def test_policy_that_is_wrong_is_found_out(monkeypatch: pytest.MonkeyPatch, wrong: type[RemovalQueue]) -> None:
    monkeypatch.setitem(POLICIES, "removal-queue", wrong)
    assert not cache_bench.measure("removal-queue", NUMBER, 10).content_verified


@pytest.mark.parametrize(("entries", "requeues", "visits"), [(10, 5, 51), (100, 5, 501), (7, 0, 1), (1, 3, 4)])
def test_visits_of_a_size_pass_are_counted(entries: int, requeues: int, visits: int) -> None:
    found = cache_bench.visited(entries, requeues)
    assert (found.visits, found.most) == (visits, visits)


def measurement_of(policy: str, exact: bool = True) -> cache_bench.Measurement:
    """A measurement as if it had been made."""
    return cache_bench.Measurement(policy, 1_000, 5, 16_000, 250_000, (0.001, 0.02, 0.3), exact)


def patched(monkeypatch: pytest.MonkeyPatch, exact: bool = True) -> None:
    """Have the command line measure so."""
    monkeypatch.setattr(
        cache_bench, "rounds", lambda n, entries, caches: [measurement_of(p, exact) for _ in range(n) for p in POLICIES]
    )


def test_bench_tells_every_pass(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    patched(monkeypatch)
    status, out, err = cli("bench", "cache", "--rounds", "1")
    assert (status, err) == (0, "")
    assert "1,000 entries in 5 caches" in out
    assert re.search(r"removal-queue +bytes an entry +16\.0 +16\.0 to 16\.0 +exact", out)
    assert re.search(r"per-cache-policy +ms, pass of size, a tenth +300\.000 +300\.000 to 300\.000 +exact", out)
    assert "a size pass over 10 entries that reads protect 5 times visits 51\n" in out
    told = json.loads(cli("bench", "cache", "--rounds", "2", "--json")[1])
    assert [m["policy"] for m in told["measurements"]] == [*POLICIES] * 2
    assert told["passed"] is True


def test_bench_fails_where_content_is_wrong_or_a_pass_visits_too_much(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    patched(monkeypatch, exact=False)
    status, out, _ = cli("bench", "cache", "--rounds", "1")
    assert (status, "WRONG" in out) == (1, True)
    patched(monkeypatch)
    monkeypatch.setattr(cache_bench, "visited", lambda entries, n: cache_bench.Visits(entries, n, 9))
    status, out, _ = cli("bench", "cache", "--rounds", "1")
    assert (status, "visits 9: OVER 51" in out) == (1, True)


@plots
def test_bench_draws(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    patched(monkeypatch)
    plot = tmp_path / "passes.svg"
    assert cli("bench", "cache", "--rounds", "2", "--plot", plot)[0] == 0
    assert "<svg" in plot.read_text(encoding="utf-8")


@on_linux
def test_policies_are_measured_in_processes_of_their_own() -> None:
    found = [*cache_bench.rounds(1, NUMBER, 10)]
    assert [m.policy for m in found] == [*POLICIES]
    assert cache_bench.result(found).passed
