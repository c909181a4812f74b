"""Contract ``topic-delivery``: its recorded traces, what its subjects hold, its adapter, and names."""

from __future__ import annotations

from typing import Any

import pytest
from kit import ONE_IN, replay
from unusual.topic_delivery import Shares

from broker_tck import fixtures
from broker_tck.implementations.interface import Position
from broker_tck.implementations.topic_delivery.manager import SharedIndexManager
from broker_tck.implementations.topic_delivery.tracker import View
from broker_tck.implementations.topic_delivery.tracker_each import TrackerEach
from broker_tck.model.reference import UNDEFINED, Allowed
from broker_tck.model.topic_delivery.specification import TopicDelivery
from broker_tck.properties.contracts.topic_delivery.operations import Capabilities, Config
from broker_tck.properties.engine.check import Difference, first_difference, record
from broker_tck.properties.engine.choices import SeededChoices
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import declared
from broker_tck.properties.engine.trace import from_text, load
from broker_tck.properties.engine.walk import walk_seed
from broker_tck.properties.engine.written import operation_text
from broker_tck.properties.explain.diagnose import Diagnoser
from broker_tck.properties.explain.finding import find
from broker_tck.properties.report.finding import story
from broker_tck.properties.report.made import UNASKED, finding_result
from broker_tck.properties.search.failing import failure
from broker_tck.properties.search.reduction.shorter import Shorter
from broker_tck.properties.search.replay import declaring

TOPICS: Contract = CONTRACTS["topic-delivery"]
BRANCH = "shared-index-448"


@pytest.mark.slow
def test_model_and_subject_do_as_the_branch_did() -> None:
    subjects = declaring(TOPICS, "pip-448")
    traces = load(str(fixtures.folder() / "topic-delivery" / "pip-448.jsonl"))
    assert [subject.name for subject in subjects] == [BRANCH]
    assert sum(len(trace.operations) for trace in traces) == 8_613
    replays = [replay(trace, subjects) for trace in traces[::ONE_IN]]
    assert [d for each in replays for d in each.disagreements] == []
    assert sum(each.agreed for each in replays) == sum(each.steps for each in replays)


def test_baseline_holds_each_message_once_a_view() -> None:
    text = "open A; open B; add A1 1 1 +2000; add B1 1 1 +2000; md A1 1 1; adv 2512; get A1 9; get B1 9"
    steps = results(text, TrackerEach, shows_index=False)
    assert [step.seen[0] for step in steps] == [0, 0, 1, 2, 2, 2, 1, 0]
    assert [step.result for step in steps[-2:]] == [[], [[1, 1]]]
    assert sorted(handle for _, handles in steps[5].result for handle in handles) == ["A1", "B1"]


def test_shared_index_holds_a_message_once_whatever_the_number_of_views() -> None:
    sizes = set()
    for names in ("A", "ABCDEFGH"):
        adds = [f"add {name}1 {ledger} {entry} +9000" for name in names for ledger in (1, 2) for entry in range(9)]
        step = results("; ".join([*(f"open {name}" for name in names), *adds]))[-1]
        sizes.add(step.seen[:2])
    ((count, memory),) = sizes
    assert count == 18
    assert memory > 0


def test_entry_ids_and_marks_have_their_bounds() -> None:
    text = "open A; add A1 1 4294967296 +9000; add A1 1 4294967295 +9000; md A1 1 1099511627776; count A1"
    refused, taken, _, count = [step.result for step in results(text)][1:]
    assert refused["error"] == "ValueError"
    assert (taken, count) == (True, 0)


def test_view_sees_what_comes_to_a_bucket_that_it_was_done_with_before_a_step_back() -> None:
    text = "open A; open B; add A1 1 0 +2000; adv 3000; get A1 9; get B1 9; jump -3000"
    again = results(f"{text}; add A1 1 0 +2000; add A1 1 1 +2000; count A1; count B1; adv 2000; get B1 9")
    assert [step.result for step in again[-4:]] == [2, 1, [[1_700_000_001_536, ["A1", "B1"]]], [[1, 1]]]


def test_answer_no_arms_what_a_step_back_has_left_unarmed() -> None:
    text = "topic-delivery ideal clock=1700000000000; open A; add A1 1 0 +2000; adv 2000; jump -1000; has A1; adv 536"
    trace = from_text(text)
    steps = record(trace.operations, TopicDelivery(trace.config))
    assert [step.seen[2] for step in steps[-3:]] == [[], [1_700_000_001_536], []]
    assert steps[-1].result == [[1_700_000_001_536, ["A1"]]]


def test_tracker_may_look_at_its_clock_at_calls_alone() -> None:
    """Without a call while the clock is back, a tracker may take the first firing for one that was not undone."""
    text = "topic-delivery ideal tick=500 clock=1700000000001; open A; add A1 0 0 +501; add A1 0 0 +511; adv 1518"
    trace = from_text(f"{text}; jump -3599234; adv 3597971; add A1 0 0 +756")
    topic = TopicDelivery(trace.config)
    for operation in trace.operations:
        operation.on(topic)
    armed = topic.armed()
    assert isinstance(armed, Allowed)
    assert [at for at in range(1_700_000_000_257, 1_700_000_000_999) if armed.permits([at])] == [
        1_700_000_000_257,
        1_700_000_000_512,
    ]


def test_last_run_that_lay_ahead_may_count_once_the_clock_has_reached_it() -> None:
    """A tracker may have forgotten it when it armed the timer meanwhile, or may only have left it out."""
    text = "topic-delivery ideal tick=1024; open A; tick A1 3; add A1 0 0 +1024; adv 3067; jump -1024; jump 1; open B"
    trace = from_text(f"{text}; tick B1 2")
    for subject in (SharedIndexManager, Shares):
        adapter = TOPICS.adapter(subject, trace.config, Capabilities())
        assert first_difference(trace.operations, TopicDelivery(trace.config), adapter) is None


# ---- The adapter, and what handles mean


def results(text: str, factory: Any = SharedIndexManager, **can: bool) -> list[Any]:
    """The results of a trace on a manager."""
    trace = from_text(f"topic-delivery ideal clock=1700000000000; {text}")
    return record(trace.operations, TOPICS.adapter(factory, trace.config, Capabilities(**can)))


def test_dispatcher_may_come_back_while_it_is_told_to_read() -> None:
    text = "open A; open B; add A1 1 1 +2000; add A1 1 2 +9000; reads A1 5; adv 2000; adv 9000; has A1; has B1"
    steps = results(text)
    first, second = (step.result[0][1:] for step in steps[5:7])
    assert first == [["A1", "B1"], [["A1", [[1, 1]]]]]
    assert second == [["A1", "B1"], [["A1", [[1, 2]]]]]
    assert [step.result for step in steps[-2:]] == [False, True]


def test_subject_that_does_not_show_its_index_is_seen_without() -> None:
    (step,) = results("open A", shows_index=False, memory_estimate=False)
    assert step.seen == (0, UNDEFINED, [], UNDEFINED, "-")
    assert [each is UNDEFINED for each in step.seen] == [False, True, False, True, False]
    adapter = TOPICS.adapter(SharedIndexManager, Config(), Capabilities(shows_index=False, memory_estimate=False))
    assert adapter.seen() == TopicDelivery(Config()).seen()


def test_unknown_handle_is_nothing() -> None:
    text = "open A; add B1 1 1 +2000; get B1 1; has A2; md B1 1 1; close B1; tick B1 5; clear B1; reads B1 1"
    assert [step.result for step in results(text)] == ["A1"] + 8 * [None]


def left(text: str, *gone: int) -> str:
    """The first trace to try without some operations."""
    trace = from_text(f"topic-delivery; {text}")
    shorter = Shorter(TOPICS, TopicDelivery)(trace.config, trace.operations, gone)
    return "; ".join(operation_text(o, trace.config.clock) for o in next(shorter))


def test_view_keeps_its_operations_where_an_earlier_one_is_left_out() -> None:
    text = "open A; open B; open A; add A2 1 0 +5000; has A1; has B1; close A2"
    assert left(text, 0) == "open B; open A; add A1 1 0 +5000; has B1; close A1"
    assert left(text, 2) == "open A; open B; has A1; has B1"


def test_choices_of_a_walk_never_name_a_view_that_is_not_one() -> None:
    choices, model = SeededChoices(walk_seed(0, 0)), TopicDelivery(Config())
    made = [maker.make() for maker in TOPICS.makers(model, choices, Capabilities())]
    assert {o.tag for o in made} == {"open", "adv", "jump", "stale", "shutdown"} | {
        o.tag for o in made if hasattr(o, "handle")
    }


@pytest.mark.parametrize(
    ("text", "tried"),
    [
        ("open C; has C1; adv 5", "open A; has A1; adv 5"),
        ("open B; open A; has A1; close B1; open Z", "open A; open B; has B1; close A1; open C"),
    ],
)
def test_subscriptions_are_named_in_order_at_the_end(text: str, tried: str) -> None:
    trace = from_text(f"topic-delivery; {text}")
    shorter = ["; ".join(operation_text(o, None) for o in each) for each in TOPICS.rewrites(trace.operations)]
    assert shorter[-1] == tried
    again = from_text(f"topic-delivery; {tried}").operations
    assert all(len(each) < len(again) for each in TOPICS.rewrites(again))


class OnlyWhereAsked(SharedIndexManager):
    """Hands out nothing to a view that was not asked before whether it pauses."""

    asked = False

    def pauses(self, view: View) -> bool:
        self.asked = True
        return super().pauses(view)

    def hand_out(self, view: View, most: int) -> list[Position]:
        return super().hand_out(view, most) if self.asked else []


class Never(SharedIndexManager):
    """Hands out nothing."""

    def hand_out(self, view: View, most: int) -> list[Position]:
        return []


@pytest.mark.parametrize(("factory", "unasked"), [(OnlyWhereAsked, True), (Never, False)])
def test_trace_that_fails_only_where_it_is_not_looked_at_is_noted(factory: type, unasked: bool) -> None:
    """A mistake that changes nothing explains no such trace."""
    subject = declared("wrong", factory, TOPICS)
    trace = from_text("topic-delivery ideal; open A; add A1 0 0 +2000; adv 2000; get A1 10")
    adapter = subject.adapter(trace.config, subject.capabilities)
    assert (first_difference(trace.operations, TOPICS.specification(trace.config), adapter) is None) == unasked
    different = Difference("result", [[0, 0]], [])
    assert failure(subject, TOPICS.specification, trace.config, trace.operations) == (3, different)
    diagnoser = Diagnoser(subject, TOPICS.specification)
    assert diagnoser.fitting(trace.config, trace.operations) == []
    found = find(diagnoser, trace.walk)
    assert found is not None
    assert (found.unasked, found.diagnosis.mistakes == ()) == (unasked, unasked)
    assert " ".join(story(finding_result(found)).split()).count(f"Note {UNASKED}") == unasked
