"""A finding as text: what stands first, its width, its units, its colours, and operations with named fields."""

from __future__ import annotations

import re
import sys
from typing import Any

import click
import kit
import msgspec
import pytest
from kit import subject_of

from broker_tck.cli import terminal as here
from broker_tck.properties.engine.check import RESULT, Difference
from broker_tck.properties.engine.operation import kinds_of
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import resolve
from broker_tck.properties.engine.trace import from_text
from broker_tck.properties.engine.units import TIME, counted, number_text
from broker_tck.properties.engine.walk import Walk
from broker_tck.properties.engine.written import in_order, named_text, operation_text, value_text
from broker_tck.properties.explain.diagnose import Diagnoser
from broker_tck.properties.explain.finding import Finding, find, find_breach
from broker_tck.properties.report.finding import FindingResult, story, way_text
from broker_tck.properties.report.lines import Line, both_text, lines, table
from broker_tck.properties.report.made import finding_result
from broker_tck.properties.report.words import by_what_was_seen

START = kit.START


def found(subject: Any, text: str) -> FindingResult:
    """The document of what is found on a trace."""
    return finding_result(find_on(subject, text))


def find_on(subject: Any, text: str) -> Finding:
    """What is found on a trace."""
    trace = from_text(text)
    model = trace.contract.model(trace.profile)
    diagnoser = Diagnoser(subject, model)
    finding = find(diagnoser, trace.walk)
    assert finding
    return finding


@pytest.fixture(scope="module")
def told() -> FindingResult:
    return found(resolve("mutant:strict-rounded-down"), "delayed-delivery timebucket-ideal strict=true; add 0 0 +1")


def test_what_went_wrong_stands_first_and_the_replay_line_last(told: FindingResult) -> None:
    paragraphs = story(told).split("\n\n")
    assert paragraphs[0] == told.what
    assert paragraphs[1].startswith("DD-05 is broken by mutant:strict-rounded-down (timebucket-ideal; ")
    assert paragraphs[-1] == f"  {told.replay}"
    assert paragraphs[2].splitlines()[1:] == ["    1  add ledger=0 entry=0 at=+1  armed [+512 ms]  armed []"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["strict-rounded-down", "same-instance-only", "firing-asks-one-view"])
def test_text_is_no_wider_than_it_may_be(name: str) -> None:
    traces = {
        "strict-rounded-down": "delayed-delivery strict=true; add 0 0 +1",
        "same-instance-only": "entry-cache ideal; put 1 0 0 0 0; get 1 0 0",
        "firing-asks-one-view": "topic-delivery tick=2; open A; open B; add B1 0 0 +3; adv 2",
    }
    finding = found(resolve(f"mutant:{name}"), traces[name])
    for width in (80, 120):
        long = [line for line in story(finding, width).splitlines() if len(line) > width]
        assert all(line.startswith("  broker-tck replay") for line in long), long


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("DD-05 buckets.key: rounded_down", "rounded down (buckets.key)"),
        ("DD-27 a new tick brings the timer up to date", "a new tick brings the timer up to date"),
        ("DD-16 what is left: that of its first add", "what is left: that of its first add"),
        ("DD-11 absent", ""),
        ("DD-33 buckets.wake: as specified", ""),
    ],
)
def test_ways_are_named_in_words(way: str, words: str) -> None:
    assert way_text(way) == words


def test_long_lists_are_cut_where_they_differ() -> None:
    expected, seen = [[0, n] for n in range(400)], [[0, n] for n in range(399)]
    operation = from_text("get 500").operations[-1]
    one, other = both_text(kit.CONTRACT, operation, Difference(RESULT, expected, seen), None)
    assert (one[:1], one[-7:], other[:1], other[-7:]) == ("…", "0 399]]", "…", "0 398]]")
    short = both_text(kit.CONTRACT, operation, Difference(RESULT, expected, seen[1:]), None)
    assert short[0].startswith("[[0 0] [0 1]")
    assert short[1].startswith("[[0 1] [0 2]")


def test_colours_are_for_terminals(told: FindingResult, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert here.report_here(told) == story(told)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    red, rule, green, seen = "\x1b[31m\x1b[1m", "\x1b[33m\x1b[1m", "\x1b[32m", "\x1b[31m"
    here_told, end = here.report_here(told), "\x1b[0m"
    assert here_told.startswith(f"{red}{told.what}{end}\n\n{rule}DD-05{end} is broken by ")
    assert f"\n{rule}  DD-05  {end}{told.sentences[0]}\n" in here_told
    assert "lookahead=0 clock=1700000000000)\n" in here_told.split("\n\n")[1]
    (*_, last) = here_told.split("\n\n")[2].splitlines()
    assert re.fullmatch(
        rf"    1  add ledger=0 entry=0 at=\+1  {re.escape(green)}\S.*{re.escape(end)}  {re.escape(seen)}\S.*", last
    )
    monkeypatch.setenv("COLUMNS", "50")
    assert max(map(len, click.unstyle(here.report_here(told)).splitlines()[:-1])) <= 50
    assert f"\n{seen}         seen      " in here.report_here(told)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    assert here.report_here(told) == story(told, 200)


def test_observables_of_many_words_are_told_where_they_change() -> None:
    trace = from_text("bucket-delivery; add 0 0 +5; add 0 1 +5; has; adv 1")
    told = lines(trace.contract, trace.contract.model(trace.profile), trace.config, trace.operations)
    assert [line.expected for line in told] == [
        "true, count 1 message, buckets [], queues [0 ready, 1 growing], armed [+5 ms], pending [], keys {}",
        "true, count 2 messages, queues [0 ready, 2 growing]",
        "false",
        "[]",
    ]
    trace = from_text("add 0 0 +2005; has")
    told = lines(trace.contract, trace.contract.model(trace.profile), trace.config, trace.operations)
    assert [line.expected.partition("count")[2] for line in told] == [" 1 message, armed [+1536 ms]"] * 2


# ---- What was seen, where no way explains it


def test_error_is_told_in_words() -> None:
    raising = found(subject_of(kit.Raising), "delayed-delivery; add 0 4 +2000")
    assert raising.what.startswith("Your tracker raises LookupError: entry at `add ledger=0 entry=4 at=+")
    assert raising.certainty == (
        f"unknown: no known mistake explains this trace; {raising.rules[0]} is a guess from the operation that failed"
    )


def test_relation_that_does_not_hold_is_told_by_what_was_expected() -> None:
    subject = resolve("mutant:origin-is-no-position")
    trace = from_text("active-cursors ideal; add i [0,0]; slowest")
    done = Walk(None, trace.config, [*trace.operations], None)
    breach = find_breach(subject, trace.contract.model("ideal"), "shift", done)
    assert breach
    line = finding_result(breach).lines[-1]
    assert (line.expected, line.seen) == ("Moved by some ledgers, a trace has its positions moved.", "something else")


def test_other_answers_and_observables_are_told_in_words() -> None:
    nonsense = found(subject_of(kit.Nonsense), "delayed-delivery; has")
    assert re.fullmatch(r"Your tracker answers `has` with <an object>; expected: false\.", nonsense.what)
    strict = find_on(resolve("mutant:strict-rounded-down"), "delayed-delivery timebucket-ideal strict=true; add 0 0 +1")
    assert by_what_was_seen(strict) == (
        "After `add ledger=0 entry=0 at=+1` your tracker has armed []; expected: armed [+512 ms]."
    )


# ---- Units


@pytest.mark.parametrize(
    ("number", "clock", "unit", "text"),
    [
        (START + 512, START, TIME, "+512 ms"),
        (START + 512, START, "", "+512 ms"),
        (START - 1, START, TIME, f"{START - 1} ms"),
        (512, 1_000, TIME, "512 ms"),
        (1_512, 1_000, TIME, "+512 ms"),
        (7, START, "", "7"),
        (1, None, "messages", "1 message"),
        (0, None, "messages", "0 messages"),
        (1, None, "entries", "1 entry"),
        (1, None, "ready", "1 ready"),
        (1, None, "ms", "1 ms"),
    ],
)
def test_number_has_its_unit(number: int, clock: int | None, unit: str, text: str) -> None:
    assert number_text(number, clock, unit) == text


def test_places_of_a_list_have_their_own_units() -> None:
    caches = "entries", "bytes"
    assert value_text([[0, 0], [1, 64]], None, caches) == "[[0 entries, 0 bytes] [1 entry, 64 bytes]]"
    assert value_text([1, 2, 3], None, caches) == "[1 2 3]"
    assert value_text([START + 1, START + 2], START, TIME) == "[+1 ms, +2 ms]"
    assert value_text([], START, TIME) == "[]"
    assert value_text(True, START, "messages") == "true"
    assert counted(2, "copies") == "copies"


def test_table_is_stacked_where_it_is_too_wide() -> None:
    told = [Line("add ledger=1", "true", ""), Line("get most=1", "expected " * 9, "seen")]
    assert table(told, width=200)[0].split() == ["operation", "expected", "seen"]
    assert table(told, first=7, width=60) == [
        "    7  add ledger=1",
        "         -> true",
        "    8  get most=1",
        "         expected  expected expected expected expected",
        "                   expected expected expected expected",
        "                   expected",
        "         seen      seen",
    ]


# ---- Fields by name


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=CONTRACTS)
def test_operation_with_named_fields_is_read_as_the_one_without(contract: Any) -> None:
    for line in (kit.ROOT / "fixtures" / contract.name).glob("*.jsonl"):
        record = msgspec.json.decode(line.read_bytes().splitlines()[0])
        config = msgspec.convert(record["config"], contract.config)
        clock = getattr(config, "clock", None)
        header = f"{contract.name} {contract.default}" + (f" clock={clock}" if clock is not None else "")
        steps = [step[0] if isinstance(step[0], list) else step for step in record["steps"]][:40]
        operations = [msgspec.convert(step, contract.operations) for step in steps]
        named, plain = (
            from_text("; ".join([header, *(text(operation, clock) for operation in operations)]))
            for text in (named_text, operation_text)
        )
        assert [*named.operations] == [*plain.operations] == operations
        return


def test_fields_may_be_in_any_order_and_left_out_where_they_have_a_default() -> None:
    add, crash = (
        next(kind for kind in kinds_of(CONTRACTS[name].operations) if kind.__struct_config__.tag == tag)
        for name, tag in (("delayed-delivery", "add"), ("bucket-delivery", "crash"))
    )
    assert in_order(["add", "at=+1", "entry=2", "ledger=3"], add) == ["add", "3", "2", "+1"]
    assert in_order(["crash", "order=4"], crash) == ["crash", "0", "4"]
    assert in_order(["crash", "failing=4"], crash) == ["crash", "4"]
    assert in_order(["crash"], crash) == ["crash"]
    for words in (["add", "at=1", "2", "3"], ["add", "at=1", "et=2", "ledger=3"], ["add", "at=1", "at=2", "entry=3"]):
        assert in_order(words, add) == words
