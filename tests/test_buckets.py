"""Contract ``bucket-delivery``: its recorded traces, what its adapter holds, and where a broker can crash."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from kit import ONE_IN, replay
from pyroaring import BitMap
from rare_turns import RARE

from broker_tck import fixtures
from broker_tck.implementations.bucket_delivery.tracker import BucketTracker
from broker_tck.implementations.interface import BucketSnapshotPersistenceException, SegmentMetadata
from broker_tck.model.bucket_delivery.specification import BucketDelivery
from broker_tck.properties.contracts.bucket_delivery.adapter import Adapter
from broker_tck.properties.contracts.bucket_delivery.operations import Capabilities, Config
from broker_tck.properties.contracts.bucket_delivery.storage import Door, Durable, SnapshotChanged, range_of
from broker_tck.properties.engine.check import first_difference, record
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.trace import Trace, from_json, from_text, load, to_json
from broker_tck.properties.engine.walk import walks
from broker_tck.properties.engine.written import operation_text
from broker_tck.properties.mistakes.book import mistakes_of
from broker_tck.properties.search.failing import broken_by
from broker_tck.properties.search.reduction.shorter import Shorter
from broker_tck.properties.search.replay import declaring

BUCKETS = CONTRACTS["bucket-delivery"]
STEPS = {"bucket-2025": 17_029, "bucket-4.2": 6_918, "bucket-5.0": 7_584}
KEY = "#pulsar.internal.delayed.bucket_1_2"


@cache
def recorded(profile: str) -> tuple[Trace, ...]:
    return tuple(load(str(fixtures.folder() / "bucket-delivery" / f"{profile}.jsonl")))


@pytest.mark.slow
@pytest.mark.parametrize("profile", STEPS)
def test_model_and_subjects_do_as_the_broker_did(profile: str) -> None:
    traces = recorded(profile)
    subjects = declaring(BUCKETS, profile)
    assert {trace.profile for trace in traces} == {profile}
    assert sum(len(trace.operations) for trace in traces) == STEPS[profile]
    replays = [replay(trace, subjects) for trace in traces[::ONE_IN]]
    assert [d for each in replays for d in each.disagreements] == []
    assert sum(each.agreed for each in replays) == sum(each.steps for each in replays)


@pytest.mark.parametrize("profile", ["ideal", *STEPS])
def test_walks_find_no_difference_and_break_no_other_invariant(profile: str) -> None:
    (subject,) = declaring(BUCKETS, profile)
    model = BUCKETS.model(profile)
    for done in walks(BUCKETS, 5, range(3), subject.adapter, model, subject.capabilities):
        assert done.difference is None
        assert {*broken_by(BUCKETS, done, subject.adapter, subject.capabilities)} <= {*model.BREAKS}


@pytest.mark.parametrize("text", RARE.values(), ids=RARE)
def test_rare_turns_are_in_the_profile_of_the_release(text: str) -> None:
    assert difference(text) is None


def difference(text: str) -> Any:
    """Where the subject of a trace's profile and the model differ."""
    trace = from_text(f"bucket-delivery {text}")
    (subject,) = declaring(BUCKETS, trace.profile)
    model, adapter = BUCKETS.model(trace.profile)(trace.config), subject.adapter(trace.config, subject.capabilities)
    return first_difference(trace.operations, model, adapter)


MANY_KEYS = "; ".join(f"add {n} 0 +9" for n in range(301)) + 300 * "; complete 0" + "; storage 1; complete 0"
LOADED_AND_MERGED = (
    "max_buckets=1; storage 1; add 1 0 +10; add 1 1 +100; add 2 0 +20; storage 0; adv 10; get 9; add 2 1 +50;"
    "add 3 0 +1000; storage 1; complete 0; complete 0; adv 90; get 4; add 1 1 +200; get 9; adv 9999; get 9"
)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"min_index_count=1; {MANY_KEYS}", id="hundreds of key updates end at once"),
        pytest.param(LOADED_AND_MERGED, id="a segment is loaded while its bucket is merged"),
    ],
)
def test_bundled_subject_does_as_the_model(text: str) -> None:
    assert difference(f"ideal {text}") is None


# ---- Who wakes whom after a recovery


class ArmsAfterRecovery(BucketTracker):
    """Arms its timer for what it has recovered."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._schedule.update()


class ArmsAtRepeats(BucketTracker):
    """Arms its timer when it is given a message that it has recovered."""

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        taken = super().add_message(ledger_id, entry_id, deliver_at)
        self._schedule.update()
        return taken


class ArmsLate(BucketTracker):
    """Arms its timer a second after what it has recovered is due."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        if self._held.count:
            self._schedule.aim(self._memory.first + 1_000, self._clock(), self._schedule.tick)


class NeverArms(BucketTracker):
    """Takes its timer for armed when it has recovered something."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        if self._held.count:
            self._schedule.target = self._memory.first


RECOVERED = (
    "min_index_count=1; storage 1; add 1 0 +5000; add 1 1 +6000; add 2 0 +9000; crash; add 1 0 +5000; {asked};"
    "adv 20000; get 9; get 9"
)


@pytest.mark.parametrize("asked", ["contains 1 0", "has", "get 1", "add 3 0 +8000"])
@pytest.mark.parametrize(
    ("kind", "profile", "at"),
    [
        (BucketTracker, "ideal", None),
        (ArmsAfterRecovery, "ideal", None),
        (ArmsAtRepeats, "ideal", None),
        (ArmsLate, "ideal", 4),
        (BucketTracker, "bucket-5.0", None),
        (ArmsAfterRecovery, "bucket-5.0", 4),
        (ArmsAtRepeats, "bucket-5.0", 5),
    ],
)
def test_recovered_tracker_may_arm_its_timer_unasked(kind: Any, profile: str, at: int | None, asked: str) -> None:
    found = of_kind(kind, f"{profile} {RECOVERED.format(asked=asked)}")
    assert (found and found[0]) == at
    if at is not None and profile == "ideal":
        assert found[1] == (3, "[] or [+5000 ms]", [1_006_000])


@pytest.mark.parametrize("asked", ["has", "get 1", "add 3 0 +8000"])
def test_recovered_tracker_that_is_asked_must_arm_its_timer(asked: str) -> None:
    assert of_kind(NeverArms, f"ideal {RECOVERED.format(asked='contains 1 0')}") is None
    assert of_kind(NeverArms, f"ideal {RECOVERED.format(asked=asked)}")[:1] == (6,)


def of_kind(kind: Any, text: str) -> Any:
    """Where a tracker of a kind and the model of a trace's profile differ."""
    trace = from_text(f"bucket-delivery {text}")
    model, adapter = BUCKETS.model(trace.profile)(trace.config), Adapter(kind, trace.config, Capabilities())
    return first_difference(trace.operations, model, adapter)


class OneList(BucketTracker):
    """Hands out the same list each time."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.given: list[Any] = []

    def get_scheduled_messages(self, max_messages: int) -> list[Any]:
        self.given[:] = super().get_scheduled_messages(max_messages)
        return self.given


def test_list_that_was_handed_out_must_stay_as_it_is() -> None:
    done, (_, expected, seen) = of_kind(OneList, "ideal; add 1 0 +1; get 0; adv 1; get 0; get 1")
    assert (done, expected, seen["error"]) == (4, [[1, 0]], "AnswerChanged")


class ClearsFromTheEnd(BucketTracker):
    """Deletes the last bucket first when it is cleared."""

    def clear(self) -> None:
        self._reading.forget_load()
        self._snapshots.give_up([*self._memory.clear()][::-1])


@pytest.mark.parametrize("ended", ["complete 0; complete 1", "complete 1; complete 0", "fail 0; complete 0"])
def test_calls_of_one_operation_may_be_made_in_any_order(ended: str) -> None:
    two_stored = "add 0 0 +1; add 1 0 +1; add 2 0 +1; complete 0; complete 0; complete 0; complete 0"
    assert of_kind(ClearsFromTheEnd, f"ideal min_index_count=1; {two_stored}; clear; {ended}") is None


def test_walks_go_on_with_a_tracker_that_arms_its_timer_unasked() -> None:
    def adapted(config: Config, capabilities: Capabilities) -> Adapter:
        return Adapter(ArmsAfterRecovery, config, capabilities)

    for done in walks(BUCKETS, 5, range(12), adapted, BUCKETS.specification, Capabilities()):
        assert done.difference is None


class LooksAtEachCall(BucketTracker):
    """Forgets the last run as soon as any call shows that it lies ahead of the clock."""

    def get_number_of_delayed_messages(self) -> int:
        last_run = self._schedule._last_run
        if last_run is not None and last_run > self._clock():
            self._schedule._last_run = None
        return super().get_number_of_delayed_messages()


@pytest.mark.parametrize(
    ("kind", "between", "at"),
    [
        (BucketTracker, "jump 900000", 6_000),
        (LooksAtEachCall, "jump 900000", 5_001),
        (LooksAtEachCall, "contains 1 0", None),
    ],
)
def test_run_that_lay_ahead_may_be_forgotten_or_not(kind: Any, between: str, at: int | None) -> None:
    text = f"ideal tick=1000; storage 1; add 1 0 +5000; adv 5000; get 1; jump -900000; {between}; add 1 1 +5001"
    assert of_kind(kind, f"{text}; has; adv 999; get 9; has") is None
    trace = from_text(f"bucket-delivery {text}")
    armed = record(trace.operations, Adapter(kind, trace.config, Capabilities()))[-1].seen[3]
    assert at is None or armed == [trace.config.clock + at]


def test_walks_go_on_with_a_tracker_that_looks_at_each_call() -> None:
    def adapted(config: Config, capabilities: Capabilities) -> Adapter:
        return Adapter(LooksAtEachCall, config, capabilities)

    for done in walks(BUCKETS, 5, range(24), adapted, BUCKETS.specification, Capabilities()):
        assert done.difference is None


def test_timeout_for_an_old_time_is_seen() -> None:
    (invariant,) = (invariant for invariant in BUCKETS.invariants if invariant.number == "BD-49")
    text = "ideal; storage 1; add 1 0 +5000; adv 5000; jump -3600000; tick 2000; jump 70; add 1 1 +5000; add 1 1 +9"
    trace = from_text(f"bucket-delivery {text}")
    steps = record(trace.operations, BUCKETS.specification(trace.config))
    assert invariant.check(trace.config, steps) == (2, None, "")
    count, buckets, queues, _, *others = steps[6].seen
    for late in (0, 1):
        armed = [trace.config.clock + 5_000 + 70 + late]
        steps[6] = steps[6]._replace(seen=(count, buckets, queues, armed, *others))
        told = (2, 6, "the timeout is armed 1 ms too late") if late else (2, None, "")
        assert invariant.check(trace.config, steps) == told


HELD = "ideal min_index_count=1; storage 1; add 1 0 +5000; add 1 1 +6000; add 2 0 +9000"


@pytest.mark.parametrize(
    ("text", "judged_at"),
    [
        ("has", [4]),
        ("adv 5000; get 1; jump 70; get 9", [7]),
        ("has; clear; tick 500; add 3 0 +9; has", [4, 8]),
        ("crash; contains 1 0; has; reopen; get 9", [6, 8]),
        ("adv 6000; has; get 1; get 9", [7]),
    ],
)
def test_held_messages_that_nobody_asks_for_are_seen(text: str, judged_at: list[int]) -> None:
    (invariant,) = (invariant for invariant in BUCKETS.invariants if invariant.number == "BD-51")
    trace = from_text(f"bucket-delivery {HELD}; {text}")
    steps = record(trace.operations, BUCKETS.specification(trace.config))
    assert [*invariant.judge(trace.config, steps)] == [(at, None) for at in judged_at]
    last = trace.config.clock + 9_000 + 70
    for at, armed in ((at, armed) for at in judged_at for armed in ([], [last + 1])):
        count, buckets, queues, _, *others = steps[at].seen
        wrong_there = [*steps]
        wrong_there[at] = steps[at]._replace(seen=(count, buckets, queues, armed, *others))
        assert invariant.check(trace.config, wrong_there)[1:] == (at, f"{count} held, nobody asks, armed {armed}")


def test_name_of_a_trace_is_kept() -> None:
    trace = recorded("bucket-5.0")[0]
    assert trace.name == "R-12"
    assert from_json(to_json(trace), "here").name == "R-12"
    assert '"name"' not in to_json(recorded("bucket-2025")[0])


def test_crash_may_leave_out_what_has_a_default() -> None:
    record = '{"version":1,"contract":"bucket-delivery","profile":"ideal","config":{},"steps":[["crash"],["crash",4]]}'
    assert [(o.failing, o.order) for o in from_json(record, "here").operations] == [(0, 0), (4, 0)]


# ---- What the adapter holds


def test_key_that_is_no_buckets_is_refused() -> None:
    assert range_of(KEY) == (1, 2)
    for key in ("#pulsar.internal.delayed.bucket_1", "other_1_2", "#pulsar.internal.delayed.bucket_1_x"):
        with pytest.raises(ValueError, match=r"unpack|no key|invalid literal"):
            range_of(key)


def test_reads_of_a_recovery_fail_as_often_as_told() -> None:
    durable, told = Durable(), []
    door = Door(durable, [], failing=2)
    for _ in range(3):
        door.get_bucket_snapshot_metadata(7, told.append)
    assert [type(each).__name__ for each in told] == [
        *2 * ["BucketSnapshotPersistenceException"],
        "BucketNotExistException",
    ]
    assert isinstance(told[0], BucketSnapshotPersistenceException)


def test_what_a_closed_tracker_reads_comes_to_nothing() -> None:
    durable, told = Durable(), []
    door = Door(durable, [], failing=0)
    door.recovering = False
    door.get_bucket_snapshot_metadata(7, told.append)
    door.put_cursor_property(KEY, "7", told.append)
    door.close()
    door.get_bucket_snapshot_metadata(7, told.append)
    assert [call.label for call in durable.calls.held] == ["put:1-2=7"]
    assert told == []


@pytest.mark.parametrize(("end", "left"), [("complete 0; complete 0", 0), ("complete 0", 1), ("crash", 0)])
def test_closing_is_asked_for_until_it_has_ended(end: str, left: int) -> None:
    trace = from_text(
        f"bucket-delivery ideal min_index_count=1; add 1 0 +9; add 2 0 +9; reopen; closing; {end}; closing"
    )
    answers = [step.result for step in record(trace.operations, BucketDelivery(trace.config))]
    assert (answers[3], answers[-1]) == (1, left)
    assert replay(trace, declaring(trace.contract, "ideal")).disagreements == ()


def test_snapshot_is_a_copy_of_what_was_handed_over() -> None:
    durable, told = Durable(), []
    door = Door(durable, [], failing=0)
    segment = [(5, 1, 0)]
    door.create_bucket_snapshot([], [segment], KEY, told.append)
    segment.append((6, 1, 1))
    assert durable.stored[1][1] == [[(5, 1, 0)]]
    door.get_bucket_snapshot_segment(1, 1, 1, told.append)
    told[1][0].clear()
    assert durable.stored[1][1] == [[(5, 1, 0)]]


def test_what_is_said_of_segments_is_a_copy_too() -> None:
    durable, told = Durable(), []
    door = Door(durable, [], failing=0)
    bitmaps = {1: BitMap([0]).serialize()}
    said = SegmentMetadata(5, 5, bitmaps)
    door.create_bucket_snapshot([said], [[(5, 1, 0)]], KEY, told.append)
    door.get_bucket_snapshot_metadata(1, told.append)
    told[1][0].delayed_index_bit_map.clear()
    bitmaps.clear()
    assert durable.shown(1) == [[5, 5, [(1, 0)], [(5, 1, 0)]]]


def test_snapshot_must_not_change_before_the_storage_answers() -> None:
    door = Door(Durable(), [], failing=0)
    door.recovering = False
    segment = [(5, 1, 0)]
    door.create_bucket_snapshot([], [segment], KEY, print)
    segment.append((6, 1, 1))
    (call,) = door.durable.calls.held
    with pytest.raises(SnapshotChanged):
        call.effect()


def test_subject_that_shows_no_buckets_is_seen_without_them() -> None:
    (subject,) = declaring(BUCKETS, "ideal")
    adapter = subject.adapter(Config(), Capabilities(shows_buckets=False))
    model = BucketDelivery(Config())
    adapter.add(1, 0, 2_000_000), model.add(1, 0, 2_000_000)
    adapter.add(1, 1, 2_000_000), model.add(1, 1, 2_000_000)
    adapter.add(2, 0, 2_000_000), model.add(2, 0, 2_000_000)
    assert model.seen() == adapter.seen()
    assert [str(each) for each in adapter.seen()[1:3]] == ["anything", "anything"]


# ---- What is left of a trace means what it meant


def left(text: str, *gone: int) -> list[str]:
    """The traces to try without some operations."""
    trace = from_text(f"bucket-delivery; {text}")
    shorter = Shorter(BUCKETS, BucketDelivery)(trace.config, trace.operations, gone)
    return ["; ".join(operation_text(o, trace.config.clock) for o in operations) for operations in shorter]


TWO_BUCKETS = "add 1 0 +5; add 1 1 +5; add 2 0 +5; add 3 0 +5; add 5 0 +5"
"""Ledger 1 is sealed, then 2 and 3 are; a call that creates a snapshot waits for each."""
FIRST_ALONE = "add 1 0 +5; add 1 1 +5; add 2 0 +5"


def test_call_is_named_by_its_new_place() -> None:
    assert left(f"{TWO_BUCKETS}; complete 1; has", 0) == [
        "add 1 1 +5; add 2 0 +5; add 3 0 +5; add 5 0 +5; complete 0; has",
        "add 1 1 +5; add 2 0 +5; add 3 0 +5; add 5 0 +5; complete 1; has",
    ]


def test_end_of_a_call_that_is_not_made_is_left_out_with_it() -> None:
    assert left(f"{FIRST_ALONE}; complete 0; has", 2)[0] == "add 1 0 +5; add 1 1 +5; has"
    assert left(f"{FIRST_ALONE}; complete 0; complete 0; has", 3)[0] == f"{FIRST_ALONE}; has"


def test_snapshot_is_named_by_its_new_number() -> None:
    text = f"{TWO_BUCKETS}; complete 0; complete 0; spoil 2; vanish 1; snapshot 3"
    assert left(text, 5)[0] == f"{TWO_BUCKETS}; complete 1; spoil 1; vanish 1"


def test_calls_end_as_those_before_them_do() -> None:
    trace = from_text("bucket-delivery; fail 0; complete 1; complete 2; complete 3; has")
    shorter = ["; ".join(operation_text(o, None) for o in each) for each in BUCKETS.rewrites(trace.operations)]
    assert shorter == ["fail 0; storage 1; has", "fail 0; storage 1; complete 1; has"]


def early(then: str, instead: str | None = None) -> str:
    """What the invariant of early messages says of one that was refused, then accepted for a later time."""
    text = f"bucket-delivery min_index_count=1; storage 1; add 0 0 +5; add 1 0 +90; add 0 0 +0; {then}; adv 5; get 1"
    trace = from_text(text)
    (invariant,) = (invariant for invariant in BUCKETS.invariants if invariant.number == "BD-44")
    model = wrong(instead) if instead else BUCKETS.specification
    return invariant.check(trace.config, record(trace.operations, model(trace.config)))[2]


def wrong(mistake: str) -> type[Any]:
    """The specification with one of its known mistakes."""
    return next(
        known.applied_to(BUCKETS.specification) for known in mistakes_of(BUCKETS.specification) if str(known) == mistake
    )


def test_recovered_message_comes_at_the_time_in_its_snapshot() -> None:
    mistake = "BD-19 tracker.held.hands_out: whatever_its_time"
    assert early("crash; add 0 0 +20") == ""
    assert early("add 0 0 +20") == ""
    assert early("add 0 0 +20", mistake) == "0:0 was handed out 15 ms early"
