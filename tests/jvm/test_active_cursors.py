"""Released containers of active cursors: each does as its profile says, and their defects are found from nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest
from jvm.same import subjects
from msgspec import structs

from broker_tck.implementations.interface import Hang
from broker_tck.properties.contracts.active_cursors.adapter import Cursor
from broker_tck.properties.contracts.active_cursors.contract import ACTIVE_CURSORS as CURSORS
from broker_tck.properties.contracts.active_cursors.operations import Config
from broker_tck.properties.engine.check import HANG, record, unanswered
from broker_tck.properties.engine.subjects import Subject, resolve
from broker_tck.properties.engine.trace import from_text
from broker_tck.properties.engine.walk import Walk
from broker_tck.properties.explain.deviating import failing
from broker_tck.properties.explain.diagnose import Diagnoser
from broker_tck.properties.explain.finding import Finding, find
from broker_tck.properties.search.failing import breach_of

RELEASED = [*subjects("cursor-heap"), *subjects("cursor-tree-set"), *subjects("cursor-list")]
LINKED = "pulsar-4.2.4/cursor-list"
CIRCLE = "add b [1,0]; add e [1,0]; add a [1,2]; count d; update e null; add b [1,71]; slowest; update e null; slowest"
"""After this the list of 4.2.4 goes round in a circle."""
DEFECTS = [
    # the subject, the profile that is its own but for a rule, the rule, the most operations of a reduced trace
    ("pulsar-5.0.1/cursor-heap", "pulsar-heap+CC-11", "CC-11", 11),
    (LINKED, "pulsar-list-2025+CC-10", "CC-10", 7),
    (LINKED, "pulsar-list-2025+CC-09", "CC-09", 5),
    (LINKED, "pulsar-list-2025+CC-14", "CC-14", 6),
]


def with_null_updates(subject: Subject) -> Subject:
    """A subject from whose cursors positions are taken away as well."""
    return replace(subject, capabilities=structs.replace(subject.capabilities, null_updates=True))


def from_nothing(subject: Subject, profile: str, such: Callable[[Walk], Any] = bool, few: int = 8) -> Finding | None:
    """What the first few such walks that fail are reduced to: the best explained, and of these the shortest."""
    model = CURSORS.model(profile)
    diagnoser = Diagnoser(subject, model)
    walks = islice(filter(such, failing(subject, model, seed=3)), few)
    found = [find(diagnoser, done) for done in walks]
    return min(
        filter(None, found),
        key=lambda f: (not f.diagnosis.mistakes, len(f.diagnosis.rules), len(f.operations)),
        default=None,
    )


@pytest.mark.parametrize("name", RELEASED)
def test_what_comes_back_is_of_python(name: str) -> None:
    """Answers of a released container are values of Python, and cursors the same objects that were added."""
    container = resolve(name).factory(Config(), lambda: 0)
    first, second = Cursor("a", 1, True), Cursor("a", 2, False)
    assert container.get("a") is None
    assert container.get_slowest_cursor_position() is None
    container.add(first, (1, 2**63 - 1))
    assert container.get("a") is first
    assert type(container.size()) is int
    assert [type(part) for part in container.get_slowest_cursor_position()] == [int, int]
    assert container.should_cache_added_entry() is True
    assert container.remove_cursor("a") is True
    container.add(second, None)
    assert [*container] == [second]
    assert container.remove_cursor("b") is False


KEPT = [
    ("pulsar-4.2.4/cursor-list", "add a [0,0]; remove a", True),
    ("pulsar-5.0.1/cursor-list", "add a [0,0]; remove a; add a [0,1]; slowest; remove a", False),
    ("pulsar-4.2.4/cursor-heap", "add a [0,0]; add a [0,1]; remove a", True),
    ("pulsar-4.2.4/cursor-heap", "add a [0,0]; add b [0,1]; remove a", False),
    ("pulsar-4.2.4/cursor-tree-set", "add a [0,0]; add a [0,1]; remove a", True),
]


@pytest.mark.parametrize(("name", "text", "keeps"), KEPT)
def test_cursor_that_java_keeps_is_seen(name: str, text: str, keeps: bool) -> None:
    subject, trace = resolve(name), from_text(f"active-cursors ideal; {text}")
    at, _ = breach_of(CURSORS, subject.fresh, "CC-P17", trace.config, trace.operations)
    assert (at is not None) is keeps


def test_container_goes_on_after_java_has_collected() -> None:
    subject, trace = resolve(LINKED), from_text("active-cursors ideal; add a [0,0]; add b [0,1]; remove a; add c [0,2]")
    adapter = subject.fresh(trace.config)
    record(trace.operations[:3], adapter)
    adapter.still_there([(1, "a")])
    record(trace.operations[3:], adapter)
    assert (adapter.listed(), adapter.get("b"), adapter.slowest(), adapter.count("c")) == ([2, 3], 2, (0, 1), 2)


@pytest.mark.parametrize("version", ["4.2.4", "5.0.1"])
def test_list_caches_for_the_time_of_grace(version: str) -> None:
    subject = resolve(f"pulsar-{version}/cursor-list")
    text = "caches; adv 4; caches; adv 1; caches; add a null; caches; adv 9; remove a; adv 4; caches; adv 1; caches"
    trace = from_text(f"active-cursors {subject.profiles[0]} grace=5; {text}")
    steps = record(trace.operations, subject.adapter(trace.config, subject.capabilities))
    seen = [step.result for step in steps if step.operation.tag == "caches"]
    assert seen == [True, True, False, True, True, False]


@pytest.mark.deep
@pytest.mark.parametrize(("name", "profile", "rule", "most"), DEFECTS)
def test_defect_is_found_from_nothing(name: str, profile: str, rule: str, most: int) -> None:
    """Walks find each known defect of released containers without a hint; a short trace names its rule."""
    subject = resolve(name)
    finding = from_nothing(with_null_updates(subject) if rule == "CC-14" else subject, profile)
    assert finding is not None
    assert finding.diagnosis.rules == (rule,)
    assert len(finding.operations) <= most


@pytest.mark.deep
def test_list_that_runs_in_a_circle_is_found_from_nothing() -> None:
    """Walks find without a hint that the list of 4.2.4 hangs in a circle, with a short trace."""
    subject = with_null_updates(resolve(LINKED))
    finding = from_nothing(subject, "pulsar-list-2025", lambda done: unanswered(done.difference) == HANG, few=1)
    assert finding is not None
    assert unanswered(finding.difference) == HANG
    assert len(finding.operations) <= 9


def test_list_that_runs_in_a_circle_can_still_be_asked() -> None:
    subject = with_null_updates(resolve(LINKED))
    trace = from_text(f"active-cursors ideal; {CIRCLE}")
    adapter = subject.adapter(trace.config, subject.capabilities)
    *before, last = trace.operations
    record(before, adapter)
    for _ in range(2):
        with pytest.raises(Hang):
            last.on(adapter)
    assert adapter.size() == 3
