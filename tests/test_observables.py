"""What is seen after an operation: choices that are left, what is expensive to ask, and when a walk ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import repeat
from typing import Any, ClassVar

import pytest
from kit import CONTRACT, MODEL, subject_of, trace_of

from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.model.delayed_delivery.specification import DelayedDelivery
from broker_tck.model.negative_acks.specification import NegativeAcks
from broker_tck.model.reference import Allowed
from broker_tck.properties.contracts.delayed_delivery.adapter import Adapter
from broker_tck.properties.contracts.delayed_delivery.operations import Capabilities, Has
from broker_tck.properties.contracts.negative_acks.contract import NEGATIVE_ACKS
from broker_tck.properties.engine import contract as contracts
from broker_tck.properties.engine.check import Difference, check, observable, record
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.subjects import Subject, resolve
from broker_tck.properties.engine.walk import LOOKED, OPERATIONS, Walk, walk, walk_seed
from broker_tck.properties.explain.diagnose import Diagnoser
from broker_tck.properties.explain.finding import find
from broker_tck.properties.report.lines import lines
from broker_tck.properties.search.replay import not_as_recorded

# ---- A choice that is left in what is seen


class Roughly(DelayedDelivery):
    """The number of messages may be told one too high."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.told: list[int] = []

    def seen(self) -> tuple[Any, ...]:
        count = self.count()
        choice = Allowed(lambda n: n in (count, count + 1), self.told.append, count, f"{count} or one more")
        return choice, self.timer.armed


class Rough(Adapter):
    """A subject that tells its count too high."""

    by = 1

    def seen(self) -> tuple[Any, list[int]]:
        count, armed = super().seen()
        return count + self.by, armed


def rough(by: int) -> Rough:
    adapter = Rough(TimeBucketTracker, CONTRACT.config(), Capabilities())
    adapter.by = by
    return adapter


def test_what_is_seen_may_leave_a_choice() -> None:
    model = Roughly(CONTRACT.config())
    assert [check(operation, model, rough(1)) for operation in trace_of("has; has").operations] == [None, None]
    assert model.told == [1, 1]
    assert check(Has(), model, rough(0)) is None
    assert check(Has(), model, rough(2)) == Difference(0, "0 or one more", 2)
    assert model.told == [1, 1, 0]


def test_model_that_is_the_subject_picks_its_example() -> None:
    config = CONTRACT.config()
    (step,) = record([Has()], Roughly(config))
    assert step.seen == (0, [])
    assert check(Has(), Roughly(config), Roughly(config)) is None
    assert check(Has(), MODEL(config), Roughly(config)) is None
    (line,) = lines(CONTRACT, Roughly, config, [Has()])
    assert line.expected == "false, count 0 messages, armed []"


def test_story_goes_on_with_what_the_subject_showed() -> None:
    for by, told in ((1, "1 message"), (2, "0 messages")):
        (line,) = lines(CONTRACT, Roughly, CONTRACT.config(), [Has()], answers=record([Has()], rough(by)))
        assert line.expected == f"false, count {told}, armed []"


def test_recorded_outcome_may_be_any_that_is_allowed() -> None:
    for count, difference in ((0, None), (1, None), (2, Difference(0, 2, "0 or one more"))):
        model = Roughly(CONTRACT.config())
        assert not_as_recorded(model.has(), model.seen, [False, count, []]) == difference


# ---- What is expensive to ask


class Shy(DelayedDelivery):
    """Its timeouts are expensive to ask for."""

    looks: ClassVar[Counter[str]] = Counter()

    def seen(self) -> tuple[Any, ...]:
        self.looks["seen"] += 1
        return super().seen()

    def glimpsed(self) -> tuple[Any, ...]:
        self.looks["glimpsed"] += 1
        return super().seen()[0], None


class ShyAdapter(Adapter):
    """Likewise."""

    def glimpsed(self) -> tuple[Any, None]:
        return self.seen()[0], None


DEAR = replace(CONTRACT, expensive=True, adapter=ShyAdapter)


class Silent(TimeBucketTracker):
    """A tracker that arms nothing, which shows in what is expensive to ask alone, as long as no time passes."""

    def _update_timer(self, now: int) -> None:
        pass


def walked(subject: Subject, contract: Contract, number: int, model: type = Shy) -> Walk:
    return walk(contract, walk_seed(0, number), subject.adapter, model, subject.capabilities)


def test_walks_look_now_and_then_at_what_is_dear() -> None:
    Shy.looks.clear()
    done = walked(replace(subject_of(TimeBucketTracker), contract=DEAR), DEAR, 0)
    assert done.difference is None
    assert Shy.looks["seen"] == -(-len(done.operations) // LOOKED)
    assert sum(Shy.looks.values()) >= len(done.operations)


def test_what_is_dear_is_looked_at_in_the_end() -> None:
    contract = replace(DEAR, makers=lambda *a: [], drain=lambda *a: iter(trace_of("add 1 0 +5000").operations))
    for subject, seen in ((TimeBucketTracker, None), (Silent, [])):
        done = walk(contract, 0, replace(subject_of(subject), contract=contract).adapter, Shy, Capabilities(), steps=0)
        assert (done.difference and done.difference.seen) == seen


def test_difference_in_what_is_dear_is_reduced_to_where_it_begins() -> None:
    subject = replace(subject_of(Silent), contract=DEAR)
    done = next(d for number in range(20) if (d := walked(subject, DEAR, number)).difference)
    finding = find(Diagnoser(subject, Shy), done)
    assert finding
    assert observable(DEAR, finding.difference) == "armed"
    assert [operation.tag for operation in finding.operations] == ["add"]


# ---- The end of a walk


class Ends(NegativeAcks):
    """Nothing follows a close."""

    @property
    def ended(self) -> bool:
        return bool(self.closed)


def test_walk_ends_with_its_component() -> None:
    subject = resolve("pip-393-java")
    walks = [walk(NEGATIVE_ACKS, walk_seed(0, n), lambda c, k: Ends(c), Ends, subject.capabilities) for n in range(20)]
    for done in walks:
        model = Ends(done.config)
        closed = [(operation.on(model), model.ended)[1] for operation in done.operations]
        assert closed == [False] * (len(closed) - 1) + [True]
    assert any(len(done.operations) < OPERATIONS for done in walks)


def test_drain_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contracts, "MOST_DRAINED", 25)

    def endless(*_: Any) -> Iterator[Has]:
        return repeat(Has())

    contract = replace(CONTRACT, drain=endless)
    subject = subject_of(TimeBucketTracker)
    done = walk(contract, 1, subject.adapter, MODEL, subject.capabilities, steps=10)
    assert len(done.operations) == 35
