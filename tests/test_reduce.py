"""Reduction: short traces, from which nothing can be left out, that fail as the long ones did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import kit
import pytest
from kit import CONTRACT, MODEL, first_failing, found, subject_of, trace_of, wrong
from msgspec import structs

from broker_tck.properties.engine.check import unanswered
from broker_tck.properties.engine.operation import Operation, bulk
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.trace import from_text
from broker_tck.properties.report.finding import finding_json, story
from broker_tck.properties.report.made import finding_result
from broker_tck.properties.search.failing import failure, kind
from broker_tck.properties.search.reduction import prober
from broker_tck.properties.search.reduction.reducer import Reducer

WAYS = (
    "DD-04 buckets.cutoff: never_strict",
    "DD-09 refuses: equality_accepted",
    "DD-13 index.stored: ledgers_of_32_bits",
    "DD-16 fixed_delay.starts_anew: always",
    "DD-20 index.handed_out: repeated",
    "DD-35 index.removed: whole_ledgers",
)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_wrong_way_is_reduced_and_named(way: str) -> None:
    subject = wrong(way)
    done = first_failing(subject)
    finding = found(subject, done)
    assert finding is not None
    assert way[:5] in finding.diagnosis.rules
    assert finding.rule == finding.diagnosis.rules[0]
    assert len(finding.operations) <= 12
    assert finding.found_after == len(done.operations)
    for i in range(len(finding.operations)):
        rest = [*finding.operations[:i], *finding.operations[i + 1 :]]
        bad = failure(subject, MODEL, finding.config, rest)
        own = kind(CONTRACT, finding.operations[-1], finding.difference)
        assert bad is None or kind(CONTRACT, rest[bad[0]], bad[1]) != own or bad[0] < len(rest) - 1
    again = found(subject, done)
    assert again == finding
    assert finding.diagnosis.sentence.startswith(
        ("Behaves as if ", "On this trace, but not everywhere, it behaves as if ")
    )
    assert str(finding_json(finding_result(finding))["replay"]).startswith("broker-tck replay --subject ")


# ---- Subjects that do worse than answer wrongly


def test_subject_that_hangs_is_a_finding() -> None:
    subject = subject_of(kit.Hanging)
    trace = trace_of("add 1 0 +5000; has; add 1 1 +6000; pause; adv 3; memory; get 1; get 7; has; close")
    bad = failure(subject, MODEL, trace.config, trace.operations)
    assert bad is not None
    assert bad[0] == 7
    assert unanswered(bad[1])
    finding = found(subject, kit.Walk(None, trace.config, list(trace.operations), None))
    assert finding is not None
    assert [o.tag for o in finding.operations] == ["add", "get"]
    assert finding.difference.seen == {"error": "Hang", "message": "no answer within the limit"}
    assert (finding.diagnosis.rules, finding.diagnosis.mistakes) == (("DD-20",), ())
    assert "Hang: no answer within the limit" in story(finding_result(finding))


def test_subject_that_never_gets_made_is_a_finding() -> None:
    subject = subject_of(kit.NeverMade)
    done = kit.walk(CONTRACT, 1 << 32, subject.adapter, MODEL, subject.capabilities)
    assert done.difference is not None
    assert unanswered(done.difference)
    finding = found(subject, done)
    assert finding is not None
    assert len(finding.operations) == 1
    assert finding.difference.seen == {"error": "Hang", "message": "no answer within the limit"}


@pytest.mark.parametrize(
    ("factory", "last", "error"),
    [
        (kit.Unmakeable, None, {"error": "OSError", "message": "no disk"}),
        (kit.Exiting, "clear", {"error": "SystemExit", "message": "7"}),
        (kit.Raising, "add", {"error": "LookupError", "message": "entry"}),
    ],
)
def test_subject_that_raises_is_a_finding(factory: Any, last: str | None, error: dict[str, str]) -> None:
    subject = subject_of(factory)
    finding = found(subject, first_failing(subject))
    assert finding is not None
    assert len(finding.operations) == 1
    assert last is None or finding.operations[-1].tag == last
    assert finding.difference.seen == error
    assert finding.diagnosis.mistakes == ()
    assert finding.diagnosis.sentence == "No known mistake explains this."
    assert f"{error['error']}: {error['message']}" in story(finding_result(finding))


@pytest.mark.slow
@pytest.mark.parametrize("failures", [2, 5])
def test_failure_that_stops_while_it_is_reduced_does_no_harm(monkeypatch: pytest.MonkeyPatch, failures: int) -> None:
    monkeypatch.setattr(kit.Flaky, "failures", failures)
    subject = subject_of(kit.Flaky)
    done = first_failing(subject)
    finding = found(subject, done)
    assert finding is None or "has" in {o.tag for o in finding.operations}


# ---- The reducer alone


def reduced(text: str, fails: Any) -> tuple[Any, list[str]]:
    """What is left of a trace, where ``fails`` says at which operation it does."""
    trace = trace_of(text)
    from broker_tck.properties.engine.written import operation_text

    config, operations = Reducer(fails, CONTRACT.config()).reduce(trace.config, trace.operations)
    return config, [operation_text(o, config.clock) for o in operations]


def last_of(*tags: str) -> Any:
    """Fails at the operation that makes the tags complete, in order."""

    def fails(config: Any, operations: Sequence[Operation]) -> int | None:
        left = list(tags)
        for i, operation in enumerate(operations):
            if left and operation.tag == left[0]:
                left.pop(0)
            if not left:
                return i
        return None

    return fails


def test_what_does_not_matter_goes() -> None:
    text = "delayed-delivery tick=7 strict=true lookahead=3 clock=5000; add 1 0 +5; has; get 5; clear; memory; close"
    config, left = reduced(text, last_of("add", "clear"))
    assert left == ["add 0 0 +0", "clear"]
    assert config == CONTRACT.config()


def test_bulk_operations_become_small() -> None:
    def fails(config: Any, operations: Sequence[Operation]) -> int | None:
        held = 0
        for i, operation in enumerate(operations):
            held += bulk([operation])
            if operation.tag == "get" and held >= 37:
                return i
        return None

    _, left = reduced("fill 1 0 1 65536 +5000; has; fill 2 0 1 3 +100; get 1000", fails)
    assert left == ["fill 0 0 1 37 +0", "get 0"]


def test_reduction_ends_with_what_it_has_where_each_probe_is_dear(monkeypatch: pytest.MonkeyPatch) -> None:
    done = 0

    def fails(config: Any, operations: Sequence[Operation]) -> int | None:
        nonlocal done
        done += len(operations) + bulk(operations)
        return len(operations) - 1 if bulk(operations) >= 5_000 else None

    monkeypatch.setattr(prober, "MOST_WORK", 60_000 // prober.BULK_TO_ONE)
    _, left = reduced("has; fill 1 0 1 5000 +5000; has; fill 1 7 1 9 +5000; has; pause", fails)
    assert done < 70_000
    assert len(left) < 6


@pytest.mark.slow
def test_finding_whose_reduction_ran_out_of_work_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = wrong("DD-06 buckets.due: strictly_before")
    done = first_failing(subject)
    whole = found(subject, done)
    assert whole is not None
    assert (whole.spent, finding_json(finding_result(whole))["unfinished"]) == (False, "")
    assert "Unfinished" not in story(finding_result(whole))
    monkeypatch.setattr(prober, "MOST_WORK", 2 * len(done.operations))
    spent = found(subject, done)
    assert spent is not None
    assert len(spent.operations) > len(whole.operations)
    on = "; to reduce it further, replace `replay` by `reduce` in the last line"
    says = f"the reduction reached its limit, so a shorter trace may exist{on}"
    assert finding_json(finding_result(spent))["unfinished"] == says
    assert "\n  Unfinished  the reduction reached its limit, " in story(finding_result(spent))


def test_operation_goes_where_another_makes_up_for_it() -> None:
    def fails(config: Any, operations: Sequence[Operation]) -> int | None:
        """As many as two gets ask for, in any number of gets."""
        asked = [getattr(o, "most", 0) + 10 * (o.tag == "has") for o in operations]
        return len(asked) - 1 if sum(asked) == 13 and operations[-1].tag == "get" else None

    assert reduced("has; get 3", fails)[1] == ["has", "get 3"]
    assert reduced("adv 4; adv 5; get 13", fails)[1] == ["get 13"]


def test_neighbours_come_near_to_zero_together() -> None:
    probes = 0

    def fails(config: Any, operations: Sequence[Operation]) -> int | None:
        """As three entries in a row do."""
        nonlocal probes
        probes += 1
        entries = [getattr(operation, "entry", None) for operation in operations]
        first = entries[0] if entries else None
        return 2 if first is not None and entries == [first, first + 1, first + 2] else None

    _, left = reduced("add 3 2147483640 +5; add 3 2147483641 +5; add 3 2147483642 +5", fails)
    assert left == ["add 0 0 +0", "add 0 1 +0", "add 0 2 +0"]
    assert probes < 300


def test_small_numbers_are_configured_where_fewer_operations_do() -> None:
    def fails(config: Any, operations: Sequence[Operation]) -> int | None:
        needed = 4 if config.lookahead < 3 else 10
        return needed - 1 if config.lookahead and len(operations) >= needed else None

    config, left = reduced("delayed-delivery lookahead=9; " + "; ".join(["has"] * 19), fails)
    assert (config.lookahead, len(left)) == (1, 4)


@pytest.mark.parametrize(
    ("settings", "fails", "short"),
    [
        (
            {"backoff_ms": tuple(range(300, 600))},
            lambda c: len(c.backoff_ms or ()) > 5 and c.backoff_ms[5] > 256,
            (0, 0, 0, 0, 0, 257),
        ),
        ({"multiplier": (300, 70_000, 2.0)}, lambda c: c.multiplier and c.multiplier[1] > 256, (0, 257, 2.0)),
    ],
)
def test_lists_of_a_configuration_are_made_short_and_plain(settings: Any, fails: Any, short: Any) -> None:
    contract = CONTRACTS["negative-acks"]
    trace = from_text("negative-acks; nack 0 0 1")

    def failing(config: Any, operations: Sequence[Operation]) -> int | None:
        return 0 if operations and fails(config) else None

    config, _ = Reducer(failing, contract.config()).reduce(structs.replace(trace.config, **settings), trace.operations)
    assert short in (config.backoff_ms, config.multiplier)
