"""The bench of buckets on small workloads; its claims are for ten million messages, and are the command's to judge."""

from __future__ import annotations

import errno
import json
import os
import random
import re
import shutil
from collections import namedtuple
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from kit import on_linux, plots
from msgspec import structs

from broker_tck.bench import bucket_parts as parts
from broker_tck.bench import buckets as bench
from broker_tck.bench.bucket_parts import HEAP, ROWS, HeapOfTuples, Row
from broker_tck.bench.buckets import BucketRow, Result, Spread
from broker_tck.implementations.bucket_delivery.files import FileSnapshotStorage
from broker_tck.implementations.interface import Position

NUMBER = 1_003
FEW = Row("50", 6)
"""So few buckets that they are soon stored. Not all have as many messages."""


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each part measured once, in this process."""

    def in_process(row: Row, part: str, messages: int, folder: str) -> dict[str, Any]:
        return json.loads(json.dumps(parts.PARTS[part](row, messages, Path(folder))))

    monkeypatch.setattr(bench, "in_process", in_process)
    monkeypatch.setitem(ROWS, "50", FEW)
    monkeypatch.setattr(bench, "RECOVERIES", 1)
    monkeypatch.setattr(bench, "MERGES", 1)


# ---- What is measured


@on_linux
def test_every_message_survives_and_comes_out_again(tmp_path: Path) -> None:
    added = parts.add(FEW, NUMBER, tmp_path)
    assert len(added["seals"]) == 6
    assert added["disk"] > 20 * NUMBER
    assert [parts.recover(FEW, NUMBER, tmp_path)["exact"] for _ in range(2)] == [True, True]
    taken = parts.take(FEW, NUMBER, tmp_path)
    assert taken["exact"]
    assert len(taken["loads"]) > 6
    assert not parts.recover(FEW, NUMBER, tmp_path)["exact"]


@on_linux
@pytest.mark.parametrize("name", ["heap", "time-bucket"])
def test_what_has_all_in_memory_hands_everything_out(name: str, tmp_path: Path) -> None:
    assert parts.in_memory(ROWS[name], NUMBER, tmp_path)["exact"]


@on_linux
@pytest.mark.parametrize(("per_bucket", "merged"), [(20, True), (1, False)])
def test_a_merge_is_measured_where_there_is_one(per_bucket: int, merged: bool, tmp_path: Path) -> None:
    assert (parts.merge(FEW, 6 * per_bucket, tmp_path)["merge"] is not None) == merged


class Edges:
    """Draws times around the ends of hours."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def random(self) -> float:
        offset = self.chance.randrange(1, parts.HOURS) * parts.HOUR + self.chance.randrange(-3, 4)
        return (offset + 0.5) / (parts.HOURS * parts.HOUR)


@on_linux
@pytest.mark.parametrize("name", ["heap", "time-bucket"])
def test_nobody_is_late_at_the_end_of_an_hour(monkeypatch: pytest.MonkeyPatch, name: str, tmp_path: Path) -> None:
    monkeypatch.setattr(parts, "Random", Edges)
    assert parts.in_memory(ROWS[name], NUMBER, tmp_path)["exact"]


class LosesOne(HeapOfTuples):
    """Takes no notice of one message."""

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        return (ledger_id, entry_id) == (10_007, 3) or super().add_message(ledger_id, entry_id, deliver_at)


class TakesTwice(HeapOfTuples):
    """Hands one message out twice."""

    def get_scheduled_messages(self, max_messages: int) -> Sequence[Position]:
        return [
            given
            for one in super().get_scheduled_messages(max_messages)
            for given in [one] * (1 + (one == (10_007, 3)))
        ]


class TooLate(HeapOfTuples):
    """Hands out what was due an hour before."""

    def get_scheduled_messages(self, max_messages: int) -> Sequence[Position]:
        last = parts.START + parts.AHEAD + parts.HOURS * parts.HOUR
        return [] if self.desk.now < last else super().get_scheduled_messages(max_messages)


class KeepsOne(HeapOfTuples):
    """Counts one message more than it has."""

    def get_number_of_delayed_messages(self) -> int:
        return super().get_number_of_delayed_messages() + 1


@on_linux
@pytest.mark.parametrize("wrong", [LosesOne, TakesTwice, TooLate, KeepsOne])
def test_content_that_is_wrong_is_found_out(
    monkeypatch: pytest.MonkeyPatch, wrong: type[HeapOfTuples], tmp_path: Path
) -> None:
    monkeypatch.setattr(parts, "HeapOfTuples", wrong)
    assert not parts.in_memory(HEAP, NUMBER, tmp_path)["exact"]


# ---- The command


@pytest.mark.slow
@on_linux
@pytest.mark.usefixtures("here")
def test_rows_are_measured_one_after_the_other(tmp_path: Path) -> None:
    told: list[tuple[int, str]] = []
    result = bench.measure(("50", "time-bucket"), NUMBER, str(tmp_path), lambda *done: told.append(done))
    assert told == [*((n, "50") for n in range(5)), (5, "time-bucket"), (6, "heap")]
    assert bench.steps(("50", "time-bucket")) == len(told)
    assert [row.name for row in [*result.rows, result.heap]] == ["50", "time-bucket", "heap"]
    assert all(row.content_verified for row in [*result.rows, result.heap])
    assert not [*tmp_path.iterdir()]


@on_linux
def test_a_part_is_measured_in_a_process_of_its_own() -> None:
    assert bench.in_process(HEAP, "in_memory", NUMBER, "")["exact"]


def row_of(name: str, **changes: Any) -> BucketRow:
    """A row as if it had been measured."""
    measured = BucketRow(name, 1_000, 30.0, 4_000, 20 << 20, 24.5, True)
    if name in ("50", "200", "1000"):
        some = Spread(100.0, 90.0, 300.0)
        measured = structs.replace(measured, recovered_bytes=10 << 20, disk_bytes=23_000, seal=some, load=some)
        measured = structs.replace(measured, merge=some, recovery=some)
    return structs.replace(measured, **changes)


GOOD = row_of("200")
SLOW = row_of("200", adding_seconds=9.9)
BIG = row_of("200", resident_bytes=26 << 20)
BIG_AGAIN = row_of("200", recovered_bytes=26 << 20)
WRONG = row_of("200", content_verified=False)
FULL = row_of("heap", resident_bytes=100 << 20)


def patched(monkeypatch: pytest.MonkeyPatch, *rows: BucketRow, heap: BucketRow = FULL) -> None:
    """Have the command line measure so."""
    monkeypatch.setattr(bench, "measure", lambda names, messages, folder, tell: Result([*rows], heap))


def test_bench_tells_every_row(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    patched(monkeypatch, row_of("50"), row_of("1000"), row_of("time-bucket"))
    status, out, err = cli("bench", "bucket")
    assert (status, err) == (0, "")
    assert out.startswith("1,000 messages; ")
    assert re.search(r"^ +50 buckets +1,000 buckets +time-bucket +heap$", out, re.MULTILINE)
    assert re.search(r"^ms, recovery +100 +100 +- +-$", out, re.MULTILINE)
    assert re.search(r"^MiB, all added +20\.0 +20\.0 +20\.0 +100\.0$", out, re.MULTILINE)
    assert re.search(r"^content +exact +exact +exact +exact$", out, re.MULTILINE)
    assert out.endswith(
        "1,000 buckets: a recovery takes 1/300 of the time that adding takes, at most 1/100\n"
        "1,000 buckets: in memory is 20.0% of what a heap takes, at most 25%\n"
    )

    status, out, err = cli("bench", "bucket", "--json")
    document = json.loads(out)
    assert (status, err) == (0, "")
    assert document["passed"] is True
    assert [row["name"] for row in document["rows"]] == ["50", "1000", "time-bucket"]
    assert document["rows"][0]["recovery"] == {"median": 100.0, "least": 90.0, "most": 300.0}
    assert document["heap"]["resident_bytes"] == 100 << 20
    assert [claim["holds"] for claim in document["claims"]] == [True] * 4
    assert "CPython" in document["machine"]


@pytest.mark.parametrize(
    ("row", "heap", "says"),
    [
        (SLOW, FULL, "a recovery takes 1/99 of the time that adding takes, at most 1/100: OVER\n"),
        (BIG, FULL, "in memory is 26.0% of what a heap takes, at most 25%: OVER\n"),
        (BIG_AGAIN, FULL, "in memory is 26.0% of what a heap takes, at most 25%: OVER\n"),
        (WRONG, FULL, "WRONG"),
        (GOOD, structs.replace(FULL, content_verified=False), "WRONG"),
    ],
)
def test_bench_fails_where_a_claim_does_not_hold(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, row: BucketRow, heap: BucketRow, says: str
) -> None:
    patched(monkeypatch, GOOD, row, heap=heap)
    status, out, _ = cli("bench", "bucket")
    assert (status, out.count(says)) == (1, 1)


@plots
@pytest.mark.parametrize("rows", [[row_of("50"), row_of("time-bucket")], [row_of("time-bucket")]])
def test_bench_draws(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, rows: list[BucketRow]) -> None:
    patched(monkeypatch, *rows)
    plot = tmp_path / "buckets.svg"
    assert cli("bench", "bucket", "--plot", plot)[0] == 0
    drawn = plot.read_text(encoding="utf-8")
    assert all(f"<!-- {row.title} -->" in drawn for row in [*rows, FULL])
    assert ("<!-- 300 times -->" in drawn) == (rows[0].recovery is not None)


# ---- What cannot be


Usage = namedtuple("Usage", "free")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--row", "51"), "unknown row '51'; there are: 50, 200, 1000, time-bucket\n"),
        (("--row", "200", "--row", "heap"), "unknown row 'heap'; there are: "),
        (("--messages", "999"), "Invalid value for '--messages': "),
        (("--folder", "none"), "Invalid value for '--folder': "),
        (("--row", "50", "--folder", "."), ".: snapshots need up to 606 MB, and 600 MB are free\n"),
    ],
)
def test_bench_that_cannot_be_is_refused_in_one_line(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Usage(600_000_000))
    status, out, err = cli("bench", "bucket", *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"broker-tck: {told}")


@on_linux
def test_disk_that_is_full_meanwhile_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def full(*arguments: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(FileSnapshotStorage, "_create", full)
    monkeypatch.setitem(ROWS, "50", FEW)
    with pytest.raises(SystemExit) as exit_:
        parts.main("50", "add", str(NUMBER), str(tmp_path))
    assert exit_.value.code == parts.NO_FOLDER
    assert capsys.readouterr().err == "6 of 6 snapshots could not be stored\n"
