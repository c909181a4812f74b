"""The bench of topics on small workloads; its claims are for a million messages, and are the command's to judge."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from kit import on_linux, plots
from msgspec import structs

from broker_tck.bench import topic_parts as parts
from broker_tck.bench import topics as bench
from broker_tck.bench.topic_parts import EACH, SHARED, Measured, Spread
from broker_tck.bench.topics import Result, TopicCell
from broker_tck.implementations.interface import Position
from broker_tck.implementations.topic_delivery.manager import SharedIndexManager
from broker_tck.implementations.topic_delivery.sight import Sight
from broker_tck.implementations.topic_delivery.tracker import View

NUMBER = 1_003
LIMIT = 20_000
"""All subscriptions of these tests add all messages, and take and acknowledge some."""

# ---- What is measured


@pytest.mark.slow
@on_linux
@pytest.mark.parametrize(
    ("index", "subscriptions", "added"), [(SHARED, 1, NUMBER), (SHARED, 4, 1_000), (EACH, 4, NUMBER)]
)
def test_every_subscription_is_handed_all_that_it_waits_for(index: str, subscriptions: int, added: int) -> None:
    found = parts.measure(index, subscriptions, NUMBER, LIMIT)
    assert found.content_verified
    assert 0 < found.taken < NUMBER
    assert (found.acknowledged, found.added) == (1_000, added)
    assert (found.again is None) == (found.leave is None) == (subscriptions == 1)


def test_work_keeps_within_the_limit() -> None:
    work = parts.Workload(4_000, 10, 200_000)
    assert (work.slices, work.moves, work.added) == (480, 2, 2_000)
    assert len(work.due(0, parts.SLICES)) == 4_000
    assert len(work.due(0, 480)) + len(work.due(480, parts.SLICES, 1_000)) < 4_000


class Wrong(View):
    """A view that goes wrong over one message."""

    __slots__ = ()

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        if type(self) is LosesOne and entry_id == 1_002:
            return True
        return super().add_message(ledger_id, entry_id, deliver_at)

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        given = super().get_scheduled_messages(max_messages)
        return [*given, *given[:1]] if type(self) is TakesTwice else given

    def get_number_of_delayed_messages(self) -> int:
        return super().get_number_of_delayed_messages() + (type(self) is CountsOneMore)


class LosesOne(Wrong):
    """Takes no notice of one message."""


class TakesTwice(Wrong):
    """Hands a message out twice."""


class CountsOneMore(Wrong):
    """Counts one message more than it has."""


@on_linux
@pytest.mark.parametrize("wrong", [LosesOne, TakesTwice, CountsOneMore])
def test_content_that_is_wrong_is_found_out(monkeypatch: pytest.MonkeyPatch, wrong: type[View]) -> None:
    monkeypatch.setattr(
        SharedIndexManager, "_made", lambda self, asking: wrong(self, asking, Sight(asking.mark_delete_position))
    )
    assert not parts.measure(SHARED, 1, NUMBER, LIMIT).content_verified


# ---- The command

SOME = Spread(2.0, 0.5, 140.0)
FOUND = Measured(200 << 20, 204 << 20, SOME, SOME, SOME, SOME, SOME, 5_000, 40, 1_000, True)
ONE = structs.replace(FOUND, again=None, leave=None)


def cell_of(subscriptions: int, index: str = SHARED, **changes: Any) -> TopicCell:
    """A cell as if it had been measured."""
    found = structs.replace(ONE if subscriptions == 1 else FOUND, **changes)
    return TopicCell(index, subscriptions, 5_000, found.held_bytes, found)


def patched(monkeypatch: pytest.MonkeyPatch, *more: TopicCell) -> None:
    """Have the command line measure so."""
    one = cell_of(1, EACH)
    result = Result([cell_of(1), *more], [one, *(bench.extrapolated([one], each.subscriptions) for each in more)])
    monkeypatch.setattr(bench, "measure", lambda chosen, messages, limit, tell: result)


def test_cells_are_measured_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, str]] = []
    asked: list[tuple[Any, ...]] = []

    def in_process(*cell: Any) -> Measured:
        asked.append(cell)
        return structs.replace(FOUND, held_bytes=100 * cell[1])

    monkeypatch.setattr(bench, "in_process", in_process)
    result = bench.measure((100, 10), 1_000, 10_000, lambda *done: told.append(done))
    assert asked == [
        (*cell, 1_000, 10_000) for cell in ((SHARED, 1), (EACH, 1), (SHARED, 10), (EACH, 10), (SHARED, 100))
    ]
    assert told == [(at, f"{index}, {number}") for at, (index, number, *_) in enumerate(asked)]
    assert bench.steps((100, 10), 1_000, 10_000) == len(told)
    assert [(cell.held_bytes, cell.measured is None) for cell in result.each] == [
        (100, False),
        (1_000, False),
        (10_000, True),
    ]


@on_linux
def test_a_cell_is_measured_in_a_process_of_its_own() -> None:
    assert bench.in_process(SHARED, 2, 1_000, LIMIT).content_verified


def test_bench_tells_every_cell(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    patched(monkeypatch, cell_of(10), cell_of(1_000))
    status, out, err = cli("bench", "topic")
    assert (status, err) == (0, "")
    assert out.startswith("5,000 messages; ")
    assert re.search(r"^shared-index +1 +10 +1,000$", out, re.MULTILINE)
    assert re.search(r"^MiB, all added +200\.0 +200\.0 +200\.0$", out, re.MULTILINE)
    assert re.search(r"^us, add by another +- +2\.0 +2\.0$", out, re.MULTILINE)
    assert re.search(r"^  spread +0\.5 to 140 +0\.5 to 140 +0\.5 to 140$", out, re.MULTILINE)
    assert re.search(r"^MiB, all added +200\.0 +~2,000\.0 +~200,000\.0$", out, re.MULTILINE)
    assert re.search(r"^content +exact +- +-$", out, re.MULTILINE)
    assert "10 subscriptions: all added, memory is 1.00 times that of one subscription, at most 1.1\n" in out

    status, out, err = cli("bench", "topic", "--json")
    document = json.loads(out)
    assert (status, err, document["passed"]) == (0, "", True)
    assert [cell["subscriptions"] for cell in document["shared"]] == [1, 10, 1_000]
    assert document["shared"][0]["measured"]["first"] == {"median": 2.0, "least": 0.5, "most": 140.0}
    assert document["each"][1]["measured"] is None
    assert [claim["holds"] for claim in document["claims"]] == [True] * 4
    assert "CPython" in document["machine"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"held_bytes": 221 << 20}, "all added, memory is 1.10 times that of one subscription, at most 1.1: OVER\n"),
        ({"taken_bytes": 230 << 20}, "some taken, memory is 1.13 times that of one subscription, at most 1.1: OVER\n"),
        ({"content_verified": False}, "WRONG"),
    ],
)
def test_bench_fails_where_a_claim_does_not_hold(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], says: str
) -> None:
    patched(monkeypatch, cell_of(10), cell_of(100, **changes))
    status, out, _ = cli("bench", "topic")
    assert (status, out.count(says)) == (1, 1)


@plots
@pytest.mark.parametrize("more", [(), (10, 100)])
def test_bench_draws(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, more: tuple[int, ...]) -> None:
    patched(monkeypatch, *map(cell_of, more))
    plot = tmp_path / "topic.svg"
    assert cli("bench", "topic", "--plot", plot)[0] == 0
    drawn = plot.read_text(encoding="utf-8")
    assert all(f"<!-- {index} -->" in drawn for index in (SHARED, EACH))
    assert ("<!-- extrapolated -->" in drawn) == bool(more)


@pytest.mark.parametrize("option", ["--subscriptions", "--messages", "--limit"])
def test_bench_that_cannot_be_is_refused_in_one_line(cli: Cli, option: str) -> None:
    status, out, err = cli("bench", "topic", option, "0")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"broker-tck: Invalid value for '{option}': ")
