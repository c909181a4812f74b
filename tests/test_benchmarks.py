"""The benchmarks on small workloads: tables are filled, wrong content is found out, and figures that moved are told."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from conftest import Cli
from kit import ROOT, on_linux

pytest.importorskip("pyarrow")
pytest.importorskip("psutil")

import bucket_index
import campaign_costs
import cursor_containers
import driver_rounds
import eviction
import figures
import measuring
import native_trackers
import refresh
import topic_index
import tracked_memory
from campaign_costs import CAMPAIGNS, ISOLATED, NOTHING, ONE, TWO, WAYS, commands, cost
from first import FIRST
from measuring import Result

from broker_tck.properties.errors import Failed
from broker_tck.spark_fuzz.driver.campaign import totals_of
from broker_tck.spark_fuzz.driver.manifest import Pair
from broker_tck.spark_fuzz.driver.totals import Totals
from broker_tck.spark_fuzz.store import tables
from broker_tck.spark_fuzz.store.rows import STATE
from broker_tck.spark_fuzz.store.tables import Store

DOCS = ROOT / "docs"
FEW = 20_000

# ---- What bundled subjects cost


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have parts measured in this process."""
    for module in (bucket_index, eviction, topic_index, tracked_memory):
        monkeypatch.setattr(module, "fresh", lambda part, *arguments: part(*arguments))


SMALL: dict[Callable[..., Result], tuple[Any, ...]] = {
    bucket_index.bucket: (1_003, (6,)),
    topic_index.topic: (1_003, (1, 4, 40), 20_000),
    eviction.cache: (2_000, 10),
    tracked_memory.memory: (("heap", "8-10", "random"), 10_500),
    tracked_memory.nacks: (3_000, (1, 100_000)),
}


@pytest.mark.slow
@on_linux
@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("measure", SMALL, ids=lambda each: each.__name__)
def test_small_workload_fills_the_table_of_the_page(measure: Callable[..., Result]) -> None:
    result = measure(*SMALL[measure])
    assert result.claims
    kept = figures.figures_page.benches().get(measure.__name__)
    assert kept is None or result.table.keys() <= kept["table"].keys()
    assert all(samples for cells in result.table.values() for samples in cells.values())


def test_a_part_is_measured_in_a_process_of_its_own() -> None:
    assert measuring.fresh(os.getpid) != os.getpid()


def lost(tracker: Any, *arguments: Any) -> Any:
    """Take no notice of one message."""
    return None if arguments[:2] == (10_000, 3) else type(tracker).__base__.add_message(tracker, *arguments)


def twice(tracker: Any, most: int) -> Any:
    """Hand out the first message twice."""
    given = type(tracker).__base__.get_scheduled_messages(tracker, most)
    return [*given, *given[:1]]


def more(tracker: Any) -> Any:
    """Count one message more."""
    return type(tracker).__base__.get_number_of_delayed_messages(tracker) + 1


@on_linux
@pytest.mark.parametrize(
    "wrong",
    [{"add_message": lost}, {"get_scheduled_messages": twice}, {"get_number_of_delayed_messages": more}],
    ids=lambda wrong: next(iter(wrong)),
)
def test_content_that_is_wrong_is_found_out(monkeypatch: pytest.MonkeyPatch, wrong: dict[str, Any]) -> None:
    broken = type("Broken", (bucket_index.HeapOfTuples,), wrong)
    monkeypatch.setattr(bucket_index, "HeapOfTuples", broken)
    with pytest.raises(RuntimeError, match="the content is wrong"):
        bucket_index.in_memory("heap", 1_003)


PROGRAM = f"exec:{sys.executable} -S {ROOT / 'examples' / 'any-language' / 'adapter.py'}"


@on_linux
@pytest.mark.parametrize("name", ["time-bucket", "sorted-buckets", PROGRAM])
def test_what_a_tracker_holds_is_taken_again(name: str) -> None:
    assert all(figure >= 0 for figure in native_trackers.held(name, 2_600))


@on_linux
def test_message_that_is_not_taken_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    adding, taking, config = native_trackers.delayed(2_600)
    workload = {"delayed-delivery": lambda messages: (adding, taking[:-1], config)}
    monkeypatch.setattr(native_trackers, "WORKLOADS", workload)
    with pytest.raises(RuntimeError, match="the content is wrong"):
        native_trackers.held("time-bucket", 2_600)


@on_linux
@pytest.mark.parametrize(("level", "ahead"), [("operations", False), ("traces", True)])
def test_program_is_asked_by_each_level(level: str, ahead: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_trackers, "WARMING", 1)
    assert native_trackers.asked_by(native_trackers.resolve(PROGRAM), level).factory.ahead is ahead
    (rate,) = native_trackers.rate(PROGRAM, level, 1, 2)
    assert rate > 0


def test_comparisons_grow_as_they_may(monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(claim.holds for claim in cursor_containers.cursors(sizes=(10, 300)).claims)
    factory, growth = cursor_containers.CONTAINERS["cursor-heap"]
    monkeypatch.setitem(cursor_containers.CONTAINERS, "cursor-heap", (factory, {**growth, "rank": "log n"}))
    over = [claim.says for claim in cursor_containers.cursors(["cursor-heap"], (10, 300)).claims if not claim.holds]
    assert [says.partition(":")[0] for says in over] == ["cursor-heap, random, rank"]


def test_former_commands_say_what_became_of_them(cli: Cli) -> None:
    told = "broker-tck: `bench bucket` is now `python benchmarks/figures.py bucket`, in a clone of the repository\n"
    assert cli("bench", "bucket", "--row", "50") == (2, "", told)


# ---- Campaigns


def test_each_way_makes_the_same_walks(tmp_path: Path) -> None:
    ways = [ONE, TWO, ISOLATED, next(iter(CAMPAIGNS))]
    made = [cost(commands(way, FEW, 1, tmp_path / way, None), None).operations for way in ways]
    assert FEW < made[0] < 2 * FEW
    assert made == [made[0]] * len(ways)


def test_campaign_of_nothing_notes_its_first_walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = tmp_path / "first"
    monkeypatch.setenv(FIRST, str(first))
    done = cost(commands(ONE, NOTHING, 1, tmp_path / "store", None), None)
    assert first.exists()
    assert 0 < done.operations < 10_000, "a walk for each of four shards"


def test_processes_that_are_left_behind_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    leaves = "from subprocess import *; Popen(['sleep', '0.5'], stdout=DEVNULL, stderr=DEVNULL); print(3)"
    campaign_costs.take_over()
    others = campaign_costs.children()
    assert cost([[sys.executable, "-c", leaves]], None).operations == 3
    assert campaign_costs.children() == others
    monkeypatch.setattr(campaign_costs, "PATIENCE", 0.01)
    with pytest.raises(Failed, match="go on"):
        cost([[sys.executable, "-c", leaves]], None)
    os.waitpid(next(iter(campaign_costs.children() - others)).pid, 0)


@pytest.mark.deep
def test_every_way_is_measured() -> None:
    """The benchmark `campaign` measures each way of running a campaign, on Spark and a cluster too."""
    pytest.importorskip("pyspark")
    table = campaign_costs.campaign(400_000, 1).table
    assert [*table] == list(WAYS)
    assert all(cells["first walk, seconds"][0] > 0 for cells in table.values())


def test_rounds_that_are_made_up_are_in_the_store(tmp_path: Path) -> None:
    told = driver_rounds.simulate(str(tmp_path / "s"), 3, 7, 200)
    assert [*told] == ["1", "3", *(f"then, opened to {name}" for name in ("resume", "watch", "report"))]
    store = Store(str(tmp_path / "s"))
    totals = totals_of(store)
    summed = Totals(store.manifest)
    summed.add(store.figures(), 3)
    assert totals == summed, "summed by the table engine, and here"
    assert (totals.rounds, totals.unfinished) == (3, 0)
    assert 100 < totals.sum("states") < 200
    assert totals.sum("findings") > 0


@pytest.mark.parametrize(("whole", "files"), [(1, 3), (2**20, 1)])
def test_small_files_alone_are_put_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: int, files: int
) -> None:
    monkeypatch.setattr(tables, "TIDY", 1)
    monkeypatch.setattr(tables, "WHOLE", whole)
    driver_rounds.simulate(str(tmp_path / "s"), 3, 7, 200)
    found = Store(str(tmp_path / "s")).table("figures")
    assert found
    assert len(found.file_uris()) == files


def test_states_level_off() -> None:
    manifest = refresh.manifest([Pair("heap", "heap")], 1)
    made = driver_rounds.MadeUp(manifest, 1_000)
    reached: set[str] = set()
    known = []
    for number in range(2 * driver_rounds.HALF):
        rows = (row for batch in made.run(manifest, number, [0]) for row in batch.to_pylist())
        reached |= {row["key"] for row in rows if row["kind"] == STATE}
        known.append(len(reached))
    assert [known[driver_rounds.HALF - 1], known[2 * driver_rounds.HALF - 1]] == [750, 875]


# ---- Figures on the pages


def seconds(loop: float, first: float, second: float) -> Any:
    """Samples of two commands, and of the yardstick."""
    rows = {figures.YARDSTICK: loop, "first": first, "second": second}
    return {row: {figures.SECONDS: [value, value * 0.9, value * 1.2]} for row, value in rows.items()}


@pytest.mark.parametrize(
    ("loop", "second", "moved"),
    [(1, 132, []), (1, 135, ["second: 100 -> 135"]), (1, 65, ["second: 100 -> 65"]), (2, 200, ["first: 90 -> 45"])],
)
def test_figure_that_has_moved_by_a_third_is_found(
    monkeypatch: pytest.MonkeyPatch, loop: float, second: float, moved: list[str]
) -> None:
    known = {"commands": {"table": figures.spread(seconds(1, 90, 100))}}
    monkeypatch.setattr(figures.figures_page, "benches", lambda: known)
    commands = figures.BENCHES["commands"]
    measured = Result(seconds(loop, 90, second))
    monkeypatch.setitem(figures.BENCHES, "commands", lambda: measured)
    monkeypatch.setitem(figures.HEADS, figures.BENCHES["commands"], figures.HEADS[commands])
    done = CliRunner().invoke(figures.main, ["commands", "--check"])
    assert done.exit_code == bool(moved)
    told = [line for line in done.output.splitlines() if line.startswith("commands: ")]
    assert [line.replace("commands: ", "").replace(f", {figures.SECONDS}", "") for line in told] == moved


def test_row_that_came_or_went_has_moved() -> None:
    lines = [*figures.moves("cache", {"old": {"times": [1, 1, 1]}}, {"new": {"times": [2, 1, 3]}})]
    assert lines == ["cache: old, times: 1 -> none", "cache: new, times: none -> 2"]


def test_every_table_is_shown_on_a_page_and_measured() -> None:
    page = figures.figures_page
    shown = {name for path in DOCS.glob("*.md") for name in page.BLOCK.findall(path.read_text(encoding="utf-8"))}
    assert shown == page.benches().keys() == figures.BENCHES.keys() - {"memory"}


def test_block_tells_figures_with_their_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    page = import_module("figures_page")
    table = {"a": {"x": [1234.5, 0.04567, 5000], "y": [2, 2, 2]}, "b": {"x": [0, 0, 0]}}
    bench = {"cache": {"head": "what", "date": "2026-01-02", "machine": "a machine", "table": table}}
    monkeypatch.setattr(page, "benches", lambda: bench)
    text = page.filled("A\n<!-- figures: cache -->old<!-- end of figures -->\nB")
    assert "| what | x | y |\n| --- | ---: | ---: |\n| a | 1,234 (0.0457 to 5,000) | 2 |\n| b | 0 | - |\n" in text
    assert "2026-01-02: a machine." in text
    assert page.filled(text) == text
    assert (text[:2], text[-2:], "old" in text) == ("A\n", "\nB", False)
