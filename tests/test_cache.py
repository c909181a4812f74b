"""The entry cache: recorded traces, profiles, invariants, and reads."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit import ONE_IN, replay
from unusual.entry_cache import AnsweringCaches, HalvingCaches, ReadsOfHalves

from broker_tck import fixtures
from broker_tck.implementations.entry_cache.removal_queue import BLANKS, RemovalQueue, TopicCache
from broker_tck.implementations.interface import Entry, IllegalArgumentException, Position, TooManyRequestsException
from broker_tck.model.entry_cache import PROFILES
from broker_tck.model.entry_cache.releases import Queue
from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.model.rules import rules_of
from broker_tck.properties.contracts.entry_cache.adapter import Adapter
from broker_tck.properties.contracts.entry_cache.operations import Capabilities, Config, Range, Remove
from broker_tck.properties.contracts.entry_cache.reading import Answers
from broker_tck.properties.contracts.entry_cache.reading_walk import drain_readers
from broker_tck.properties.contracts.entry_cache.values import Tally, Value
from broker_tck.properties.engine.check import first_difference, record
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import Subject, bundled, declared, resolve
from broker_tck.properties.engine.trace import from_text, load
from broker_tck.properties.engine.walk import Walk, walk, walk_seed
from broker_tck.properties.explain.checked import check_subject
from broker_tck.properties.search.budget import Budget
from broker_tck.properties.search.exercised import Exercised
from broker_tck.properties.search.failing import broken_by
from broker_tck.properties.search.replay import asked, declaring, golden_traces, witnesses
from broker_tck.properties.search.run import Run, count, to_exercise

CONTRACT = CONTRACTS["entry-cache"]
MODEL: Any = CONTRACT.specification
STEPS = {
    "pip-430": 8_160,
    "pip-430-5.0": 4_040,
    "pip-430-5.0-insert": 2_038,
    "pip-430-5.0-spoil": 473,
    "pip-430-reads": 5_010,
    "pip-430-5.0-reads": 5_013,
    "legacy-4.0-reads": 5_039,
}
"""The recorded steps, by file."""
OTHERS = 8
"""So many walks see that a profile breaks nothing that it does not name; stored traces see what it names."""


def walked(subject: Subject, number: int) -> Walk:
    """A whole walk of the subject's profile, for a subject to make alone."""
    model = CONTRACT.model(subject.profiles[0])
    return walk(CONTRACT, walk_seed(7, number), lambda config, _: model(config), model, subject.capabilities)


# ---- Recorded traces


def test_these_files_were_recorded() -> None:
    assert {path.stem for path in fixtures.golden("entry-cache")} == set(STEPS)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "profile"), [*((name, "") for name in STEPS), ("pip-430", "ideal")])
def test_model_and_subjects_do_as_the_broker_did(name: str, profile: str) -> None:
    """Nobody releases once too often in the traces of 4.x, so that they are those of the ideal as well."""
    traces = load(str(fixtures.folder() / "entry-cache" / f"{name}.jsonl"))
    assert sum(len(trace.operations) for trace in traces) == STEPS[name]
    subjects = declaring(CONTRACT, profile or traces[0].profile)
    assert subjects
    replays = [replay(trace, subjects, profile or trace.profile) for trace in traces[::ONE_IN]]
    assert [d for each in replays for d in each.disagreements] == []
    assert sum(each.agreed for each in replays) == sum(each.steps for each in replays)
    assert all(outcome is not None for trace in traces for outcome in trace.outcomes)


# ---- What a subject is asked for


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


@pytest.mark.slow
def test_cache_that_throws_at_such_a_range_conforms() -> None:
    subject = declared("kit:sorted", Sorted, CONTRACT)
    reversed_ranges = 0
    for number in range(60):
        done = walk(CONTRACT, walk_seed(7, number), subject.adapter, EntryCaches, subject.capabilities)
        assert done.difference is None
        ranges = [(o.l1, o.e1) > (o.l2, o.e2) for o in done.operations if isinstance(o, Range | Remove)]
        reversed_ranges += sum(ranges)
    assert reversed_ranges > 20


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
        pytest.param("pip-430", 10_850, 33, 2, marks=pytest.mark.deep),
        pytest.param("pip-430-5.0", 9_242, 32, 8, marks=pytest.mark.slow),
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


# ---- Profiles


@pytest.mark.slow
@pytest.mark.parametrize("subject", bundled(CONTRACT), ids=lambda subject: subject.name)
def test_rules_do_not_apply_exactly_where_they_are_never_met(subject: Subject) -> None:
    model = CONTRACT.model(subject.profiles[0])
    run, counting = Run(subject, subject.profiles[0], 0), Exercised(model)
    for number in range(130):
        count(run, counting, walked(subject, number))
    clauses = {rule.number for rule in rules_of(model) if rule.checkable and not rule.invariant}
    assert {number for number in model.NOT_APPLICABLE if number in clauses and run.met[number]} == set()
    needed = {rule.number for rule in to_exercise(subject, model)} & clauses
    assert needed - set(run.exercised) == set()


def test_every_profile_has_the_rules_of_the_specification() -> None:
    specified = {rule.number for rule in rules_of(EntryCaches)}
    for name, model in PROFILES.items():
        assert {rule.number for rule in rules_of(model)} - specified <= {*(f"EC-6{n}" for n in range(5)), "IL-14"}
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


# ---- Invariants and relations


def test_every_invariant_is_a_rule() -> None:
    invariants = {rule.number for rule in EntryCaches.WITHOUT_CLAUSE if rule.invariant} | {"EC-12"}
    assert {invariant.number for invariant in CONTRACT.invariants} == invariants | {"IL-4"}, (
        "which is proven where calls overlap"
    )


@pytest.mark.slow
@pytest.mark.parametrize("subject", bundled(CONTRACT), ids=lambda subject: subject.name)
def test_a_profile_breaks_what_it_says_that_it_breaks(subject: Subject) -> None:
    (profile,) = subject.profiles
    model = CONTRACT.model(profile)
    traces = chain(
        witnesses(subject, profile), (asked(trace, subject) for trace in golden_traces(CONTRACT.name, profile))
    )
    stored = [Walk(0, trace.config, [*trace.operations], None) for trace in traces]
    made = [walked(subject, number) for number in range(OTHERS)]
    broken = set[str]()
    for done in [*stored, *made]:
        broken.update(broken_by(CONTRACT, done, subject.adapter, subject.capabilities))
    assert broken - {*model.NOT_APPLICABLE} == {*model.BREAKS}


def test_a_model_with_open_references_is_not_asked_what_it_keeps() -> None:
    trace = from_text(
        "entry-cache legacy-4.0; put 0 0 1 0 0; single 0 0 2; fetch 0 0 0 1 3 0; fail 0 0; size 1; clear 0"
    )
    subject, done = resolve("legacy-4.0"), Walk(0, trace.config, [*trace.operations], None)
    assert broken_by(CONTRACT, done, subject.adapter, subject.capabilities, {"EC-P18"}) == []


# ---- The queue of removal


def test_queue_is_rid_of_what_has_left_when_it_is_the_greater_part() -> None:
    adapter = Adapter(RemovalQueue, Config(), Capabilities())
    queue = adapter.broker
    assert isinstance(queue, RemovalQueue)
    for entry in range(2 * BLANKS + 10):
        adapter.put(0, 1, entry, 1, 0)
    adapter.invalidate(0, 1, BLANKS)
    assert len(queue.queue) == 2 * BLANKS + 10
    adapter.invalidate(0, 1, BLANKS + 6)
    assert len(queue.queue) == BLANKS + 4
    assert adapter.evict_size(BLANKS + 4) == [BLANKS + 4, BLANKS + 4]
    assert (adapter.size_of_all(), adapter.seen()) == (0, ([[0, 0]] * 3, 0))


# ---- Readers


@pytest.mark.slow
@pytest.mark.parametrize("number", range(12))
def test_permits_are_what_readers_do_not_have(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """P17: whatever is made of a walk, what is left and what is held is the limit."""
    config = Config(max_reads_in_flight=1_480, acquire_timeout=50, acquire_queue=3)
    done = walk(CONTRACT, walk_seed(17, number), lambda c, k: MODEL(c), MODEL, Capabilities(steps=False))
    model, adapter = MODEL(config), Adapter(RemovalQueue, config, Capabilities(steps=False))
    readers: dict[int, Any] = {}
    begin = MODEL.Reads.perform

    def perform(reads: Any, reader: Any) -> None:
        if reads is model.reads:  # not those of a model that only tries something
            readers[reader.number] = reader
        begin(reads, reader)

    monkeypatch.setattr(MODEL.Reads, "perform", perform)
    for operation in chain(done.operations, drain_readers(model)):
        record([operation], model)
        record([operation], adapter)
        assert model.permits() + sum(reader.permits for reader in readers.values()) == 1_480
        assert 0 <= adapter.permits() <= 1_480
        assert adapter.permits() == model.permits()
    assert adapter.permits() == 1_480


def test_what_is_answered_was_a_hit_or_a_miss() -> None:
    """P19: where nothing is joined and nothing fails."""
    entries = 0
    for number in range(12):
        done = walk(CONTRACT, walk_seed(19, number), lambda c, k: MODEL(c), MODEL, Capabilities(steps=False))
        kept = [o for o in done.operations if o.tag not in ("storage", "short", "fail")]
        model = MODEL(Config())
        model.storage(1)
        told = [step.result for step in record(kept, model) if isinstance(step.operation, Answers)]
        answered = sum(len(event[2]) for events in told for event in events if event[0] == "answers")
        hits, _, misses, _ = model.hits()
        assert hits + misses == answered
        entries += answered
    assert entries > 100


def test_copy_is_another_entry_with_the_same_count() -> None:
    """Also of a value whose source is released before (EC-08): its bytes are its own."""
    tally = Tally()
    count = RemovalQueue(Config(), lambda: 0, lambda task: None).new_read_count(2)
    assert count is not None
    value = Value(tally, (1, 0), 10, count)
    copy = value.copy()
    value.release()
    assert (tally.alive, copy.length, count.get_expected_read_count()) == (1, 10, 2)
    copy.retain()
    copy.release()
    assert count.get_expected_read_count() == 2
    copy.release()
    assert (tally.alive, count.get_expected_read_count()) == (0, 1)


def test_error_of_a_reader_is_not_taken_for_one_of_the_storage() -> None:
    """It goes on to whoever completed the read, and the ledger is not dropped."""
    adapter = Adapter(RemovalQueue, Config(), Capabilities(steps=False))
    adapter.put(0, 1, 0, 10, 1)
    adapter.storage(1)

    def answered(answer: Any) -> None:
        raise LookupError("a reader's own")

    with pytest.raises(LookupError):
        adapter.caches[0].read_entries(adapter.storages.ledger(0, 1), 0, 1, lambda: 0, answered)
    assert adapter.caches[0].get_number_of_entries() == 1


def test_refused_readers_are_told_why() -> None:
    adapter = Adapter(RemovalQueue, Config(max_reads_in_flight=1, acquire_timeout=1), Capabilities(steps=False))
    told: list[Any] = []
    adapter.caches[0].read_entry(adapter.storages.ledger(0, 1), 0, told.append)
    adapter.advance(1)
    adapter.timeouts()
    assert isinstance(told[0], TooManyRequestsException)


@pytest.mark.parametrize(("factory", "held"), [(RemovalQueue, 2), (AnsweringCaches, 1)])
def test_read_that_goes_on_and_one_that_fails_may_ask_for_the_same(factory: Any, held: int) -> None:
    """What tells them apart is what the second reader still holds: it has an entry from the cache, or reads again."""
    trace = from_text(
        "entry-cache ideal; fetch 1 0 0 2 1 0; fetch 1 0 0 0 3 0; put 1 0 0 0 0; fetch 1 0 0 0 2 0; short 0 0"
    )
    adapter = CONTRACT.adapter(factory, trace.config, Capabilities())
    assert first_difference(trace.operations, MODEL(trace.config), adapter) is None
    assert adapter.seen()[1] == held


class RepeatsOnce(ReadsOfHalves):
    """It repeats one part of a read, and not another one that was asked for before."""

    def may_repeat(self, running: Any, is_repeated: bool) -> bool:
        return not running.reopened


class AsksTwice(ReadsOfHalves):
    """It does not count what is asked for."""

    def came(self, running: Any, handle: Any, values: Any) -> None:
        running.asked.clear()
        super().came(running, handle, values)

    def ask_for(self, running: Any, handle: Any, run: Any, is_repeated: bool) -> None:
        super().ask_for(running, handle, run, is_repeated)
        running.asked *= 2


class LeavesAGap(ReadsOfHalves):
    """It does not ask for the last entry."""

    def ask_for(self, running: Any, handle: Any, run: Any, is_repeated: bool) -> None:
        if run[1] < running.last:
            super().ask_for(running, handle, run, is_repeated)


class AnswersEarly(ReadsOfHalves):
    """It takes one part for all."""

    def came(self, running: Any, handle: Any, values: Any) -> None:
        if running.came:
            self.completed(running, [*running.came, *values])
        else:
            super().came(running, handle, values)


class ReleasesEarly(ReadsOfHalves):
    """It lets go of what came when it asks for more."""

    def ask_for(self, running: Any, handle: Any, run: Any, is_repeated: bool) -> None:
        for value in running.came:
            value.release()
        super().ask_for(running, handle, run, is_repeated)


class KeepsWhatIsLate(ReadsOfHalves):
    """It does not release what comes of a read that has failed."""

    def come_late(self, values: Any) -> None:
        pass


HALVES = "entry-cache ideal; fetch 0 0 0 0 5 0; short 0 1; complete 1; short 0 1; complete 0; done 0"
"""The first entry comes, then the second half of the others, then the first half, in two parts."""
FAILED_HALF = "entry-cache ideal; fetch 0 0 0 0 5 0; short 0 1; fail 0 2; fail 1 2; fail 0 1; complete 0; hits"
"""Both halves are repeated, as the handle is closed. The first one fails then, and the second one comes too late."""


@pytest.mark.parametrize(
    ("reads", "halves", "failed_half"),
    [
        (ReadsOfHalves, None, None),
        (RepeatsOnce, None, None),
        (AsksTwice, 2, None),
        (LeavesAGap, 4, None),
        (AnswersEarly, 2, None),
        (ReleasesEarly, 1, 1),
        (KeepsWhatIsLate, None, 5),
    ],
)
def test_rest_may_be_asked_for_in_parts_at_once(reads: Any, halves: int | None, failed_half: int | None) -> None:
    """EC-65: no entry is asked for twice, none is forgotten, and no reader is answered before all have come."""
    factory = type("Caches", (HalvingCaches,), {"reads": reads})
    found = []
    for trace in map(from_text, (HALVES, FAILED_HALF)):
        adapter = CONTRACT.adapter(factory, trace.config, Capabilities())
        difference = first_difference(trace.operations, MODEL(trace.config), adapter)
        found.append(difference and difference[0])
    assert found == [halves, failed_half]
