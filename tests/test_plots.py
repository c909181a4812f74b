"""Pictures of what benches measured: where there can be none, that is said before anything is measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from kit import commands_below, plots

from broker_tck.bench import buckets as bucket_bench
from broker_tck.bench import cache as cache_bench
from broker_tck.bench import cursors as cursor_bench
from broker_tck.bench import topics as topic_bench
from broker_tck.bench.pictures import check_plot
from broker_tck.cli.bench import bench_command, memory
from broker_tck.spark_fuzz.executors import session

pytestmark = plots

DRAWING = {"bucket": (), "cache": (), "cursors": (), "memory": ("--contract", "negative-acks"), "topic": ()}
"""The benches that draw, and what else they are told to."""


@pytest.fixture
def unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have nothing measured."""

    def never(*arguments: Any) -> Any:
        pytest.fail("it was measured")

    monkeypatch.setattr(bucket_bench, "measure", never)
    monkeypatch.setattr(cache_bench, "rounds", never)
    monkeypatch.setattr(cursor_bench, "rows", never)
    monkeypatch.setattr(topic_bench, "measure", never)
    for contract, (known, _, shown) in [*memory.MEMORY.items()]:
        monkeypatch.setitem(memory.MEMORY, contract, (known, never, shown))


def test_all_benches_that_draw_are_tested() -> None:
    benches = commands_below(bench_command)
    assert {name for name, bench in benches.items() if "plot" in {p.name for p in bench.params}} == {*DRAWING}


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("no/x.svg", "No such file or directory"),
        ("file/x.svg", "Not a directory"),
        ("x.odd", "its name has to end with one of ."),
        ("x", "its name has to end with one of ."),
    ],
)
@pytest.mark.parametrize("name", DRAWING)
def test_path_where_no_picture_can_be_is_refused(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, path: str, why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    status, out, err = cli("bench", name, *DRAWING[name], "--plot", path)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"broker-tck: {path}: cannot be written: {why}")
    assert [*tmp_path.iterdir()] == [tmp_path / "file"]


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("name", DRAWING)
def test_picture_without_its_library_is_refused(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    monkeypatch.setattr(session, "find_spec", lambda name: None)
    status, out, err = cli("bench", name, *DRAWING[name], "--plot", tmp_path / "x.svg")
    assert (status, out) == (2, "")
    assert err == (
        "broker-tck: plots need matplotlib, and it is not installed; `pip install 'broker-tck[bench]'` installs it\n"
    )


def test_checking_a_path_leaves_the_folder_as_it_is(tmp_path: Path) -> None:
    taken = tmp_path / "taken.PNG"
    taken.write_text("mine")
    for name in ("taken.PNG", "new.svg"):
        check_plot(str(tmp_path / name))
    assert [*tmp_path.iterdir()] == [taken]
    assert taken.read_text() == "mine"
