"""Worked examples of the entry cache, on the model and on every subject of the profile: all say what is written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from broker_tck.properties.engine.check import first_difference, record
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.trace import from_text
from broker_tck.properties.search.replay import declaring

CONTRACT = CONTRACTS["entry-cache"]
BOOK = (Path(__file__).parent / "entry_cache_examples.txt").read_text(encoding="utf-8")


def results(text: str, setting: str = "ideal") -> list[Any]:
    """What the operations of a trace end in, by the model and by all subjects of the profile alike; an error's name."""
    trace = from_text(f"entry-cache {setting}; {text}")
    model = CONTRACT.model(trace.profile)
    asked = [s for s in declaring(CONTRACT, trace.profile) if CONTRACT.can_ask(trace.operations, s.capabilities)]
    assert asked
    for subject in asked:
        adapter = subject.adapter(trace.config, subject.capabilities)
        assert first_difference(trace.operations, model(trace.config), adapter) is None
    found = [step.result for step in record(trace.operations, model(trace.config))]
    return [result["error"] if isinstance(result, dict) else result for result in found]


def examples() -> Iterator[Any]:
    """A sentence, a profile with settings, and operations, each with what it answers if that is said."""
    for said, given, text in re.findall(r"^(\S.+)\.\n(?:  with (.+)\n)?((?:  .+\n)+)", BOOK, flags=re.MULTILINE):
        steps = [step.strip().partition(" -> ") for step in " ".join(text.split()).split(";")]
        setting = given if given and "=" not in given.split()[0] else f"ideal {given}"
        yield pytest.param(setting, [(operation, answer) for operation, _, answer in steps], id=said)


@pytest.mark.parametrize(("setting", "steps"), [*examples()])
def test_example(setting: str, steps: list[tuple[str, str]]) -> None:
    got = results("; ".join(operation for operation, _ in steps), setting)
    for (operation, answer), result in zip(steps, got, strict=True):
        assert not answer or result == json.loads(answer), operation


@pytest.mark.parametrize(
    ("first", "n", "asked"),
    [
        (10, 10, []),
        (15, 10, [(20, 24)]),
        (5, 10, [(5, 9)]),
        (5, 20, [(5, 9), (20, 24)]),
        (12, 4, []),
        (20, 10, [(20, 29)]),
        (0, 10, [(0, 9)]),
    ],
)
def test_read_joins_what_runs(first: int, n: int, asked: list[tuple[int, int]]) -> None:
    """EC-50: [10, 19] runs."""
    text = f"cursor 0 0 1 0 1; fetch 0 0 1 10 10 0; fetch 0 0 1 {first} {n} 0; " + "complete 0; " * (len(asked) + 1)
    done = results(text)
    assert done[2] == [["asks", 0, 1, *run] for run in asked]
    told = [event for events in done[3:] for event in events if event[0] == "answers"]
    wanted = [(1, 10, 10), (2, first, n)]
    assert sorted(told) == [["answers", who, [*range(at, at + size)], [1] * size] for who, at, size in wanted]


@pytest.mark.parametrize("mode", [0, 1, 2, 3])
def test_reader_that_reads_again_before_it_returns_is_answered(mode: int) -> None:
    """EC-53: a read that has come is not joined, however the storage answers."""
    done = results(f"cursor 0 0 1 0 1; storage {mode}; fetch 0 0 1 0 1 1; complete 0; complete 0")
    told = [event[:2] for told in done[2:] for event in told if event[0] in ("answers", "fails")]
    assert told == [["answers" if mode < 2 else "fails", number] for number in (1, 2)]


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
def test_how_long_an_entry_lives(expected: int, most: int, extend: bool, reads: tuple[int, ...], gone: int) -> None:
    """RC-13, EC-24: an entry that was inserted at 0, with a time pass every 10 ms and reads at some times."""
    read = "get 0 1 0; read 0 1 0; "
    passes = "".join((read if now in reads else "") + "ttl 1000; adv 10; " for now in range(0, gone + 1, 10))
    setting = f"ideal max_requeue_count={most} extend_ttl_of_recently_accessed={str(extend).lower()}"
    done = results(f"put 0 1 0 10 {expected}; {passes} read 0 1 0", setting)
    assert [result for result in done if isinstance(result, list) and result != [0, 0]] == [[1, 10]]
    assert done[-3] == [1, 10]
    assert done[-1] == (expected - len(reads) - 1 if expected else "none")


@pytest.mark.parametrize("m", [1, 2, 5])
def test_counts_end_at_0_when_all_cursors_have_read_all(m: int) -> None:
    """P13."""
    text = "".join(f"cursor 0 {name} 1 0 1; " for name in range(m)) + "append 0 1; " * 6
    text += "".join(f"fetch 0 {name} 1 0 6 0; done 0; " for name in range(m))
    done = results(f"{text} fetch 0 0 1 0 6 0; hits; pinned")
    assert done[-3][0][3] == [0] * 6
    assert done[-2:] == [[6 * (m + 1), (m + 1) * 140, 0, 0], [0, 0]]


@pytest.mark.parametrize(("profile", "requeued"), [("pip-430", 4), ("pip-430-5.0", 2)])
def test_pass_in_steps_goes_round_as_often_as_one_at_once(profile: str, requeued: int) -> None:
    setting = f"{profile} max_requeue_count=2 extend_ttl_of_recently_accessed=false"
    trace = from_text(f"entry-cache {setting}; put 0 0 0 1 3; put 0 0 1 1 3; begin-size 1 0; {'step 0; ' * 20}")
    done = [step.result for step in record(trace.operations, CONTRACT.model(profile)(trace.config))]
    words = [result[0] for result in done if isinstance(result, list)]
    assert (words.count("requeues"), words.count("removes")) == (requeued, 1)
    assert ["ends", [1, 1]] in done
