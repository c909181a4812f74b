"""The store of a campaign: whatever happens between two commits, nothing is lost and nothing is counted twice."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import deltalake
import deltalake.table
import made_up
import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from made_up import MadeUp, made, manifest, outcome, shard_rows

from broker_tck.properties.errors import BadInput, Failed
from broker_tck.spark_fuzz.driver import campaign
from broker_tck.spark_fuzz.driver.campaign import totals_of
from broker_tck.spark_fuzz.driver.known import Known
from broker_tck.spark_fuzz.driver.manifest import Goal
from broker_tck.spark_fuzz.driver.merging import merge
from broker_tck.spark_fuzz.driver.rounds import Rounds
from broker_tck.spark_fuzz.driver.totals import Totals
from broker_tck.spark_fuzz.report.data import report_of
from broker_tck.spark_fuzz.store import drivers, tables
from broker_tck.spark_fuzz.store.reduce import MOST_SHAPES, OTHERS, reduced
from broker_tck.spark_fuzz.store.rows import FINDING, KEYS, ROWS, arrow_schema
from broker_tck.spark_fuzz.store.tables import STOP, Store
from broker_tck.spark_fuzz.worker.task import batch_of

Before = Callable[[int], None]
TOUCHES = (
    (deltalake, "write_deltalake"),
    (deltalake.DeltaTable, "create"),
    (deltalake.table.TableOptimizer, "compact"),
    (deltalake.DeltaTable, "vacuum"),
)
"""All that writes to a store."""


class Killed(BaseException):
    """The driver was killed."""


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of a campaign that nobody disturbed."""
    folder = tmp_path_factory.mktemp("reference") / "store"
    store = Store(str(folder))
    with store.driven(manifest()):
        made(store)
    return folder


@pytest.fixture
def gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drivers count as gone, though this process, which plays all of them, is still there."""
    monkeypatch.setattr(tables, "this_process", lambda: drivers.Driver(os.uname().nodename, os.getpid(), "before"))


@contextmanager
def touched(before: Before) -> Iterator[None]:
    """Have something done before each write to a store, given the number of those before."""
    count = iter(range(10**6))
    with pytest.MonkeyPatch.context() as patch:
        for owner, name in TOUCHES:
            original = getattr(owner, name)

            def hooked(*arguments: Any, original: Any = original, **options: Any) -> Any:
                before(next(count))
                return original(*arguments, **options)

            patch.setattr(owner, name, staticmethod(hooked) if name == "create" else hooked)
        yield


def resumed(where: Path) -> Store:
    """Have a campaign go on to its end, or begin if it never did."""
    store = Store(str(where))
    with store.driven(None if store.events() else manifest()):
        made(store)
    return store


def known_of(store: Store) -> Known:
    """What the whole rounds of a store have reached."""
    return Known(store.whole("states"), store.findings())


# ---- Killed, and full


def test_driver_that_is_killed_before_any_write_is_resumed_to_the_very_same_rows(
    reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: None
) -> None:
    monkeypatch.setattr(tables, "TIDY", 2)
    writes: list[int] = []
    with touched(writes.append):
        resumed(tmp_path / "whole")
    assert len(writes) == 4 + 1 + 9 + 8 + 1  # tables made, driver, rounds, tables tidied, end
    wanted = outcome(Store(str(reference)))
    assert outcome(Store(str(tmp_path / "whole"))) == wanted
    for last in writes:

        def kill(number: int, last: int = last) -> None:
            if number >= last:
                raise Killed

        where = tmp_path / str(last)
        with pytest.raises(Killed), touched(kill):
            resumed(where)
        assert outcome(resumed(where)) == wanted, last


@contextmanager
def full() -> Iterator[None]:
    """Let no file grow, for root as well."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limit[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)


def test_disk_that_is_full_is_told_in_a_line_and_the_campaign_goes_on_when_there_is_room(
    reference: Path, tmp_path: Path, gone: None
) -> None:
    wanted = outcome(Store(str(reference)))
    for last in range(4 + 1 + 9):
        where = tmp_path / str(last)
        with ExitStack() as stack:
            stack.enter_context(touched(lambda number: number == last and stack.enter_context(full())))  # noqa: B023
            with pytest.raises(Failed) as raised:
                resumed(where)
        assert re.fullmatch(
            rf"{where}: table \w+ cannot be written: [^;\n]*File too large .os error 27.",
            str(raised.value),
        ), raised.value
        assert outcome(resumed(where)) == wanted, last


# ---- Two drivers


@pytest.mark.parametrize("begun", [False, True])
def test_of_two_drivers_that_begin_at_the_same_moment_one_is_refused(
    reference: Path, tmp_path: Path, begun: bool
) -> None:
    where = tmp_path / "store"
    if begun:
        shutil.copytree(reference, where)
    new = None if begun else manifest()
    early, late = Store(str(where)), Store(str(where))
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:

        def check_idle() -> Any:
            events = Store.check_idle(late)
            stack.enter_context(early.driven(new))
            return events

        patch.setattr(late, "check_idle", check_idle)
        with pytest.raises(BadInput, match=f"another process drives this campaign; `broker-tck watch {where}`"):
            late.driven(new).__enter__()
        with pytest.raises(BadInput, match=rf"process {os.getpid()} on .* drives this campaign"):
            Store(str(where)).driven().__enter__()
        made(early)
    assert outcome(Store(str(where))) == outcome(Store(str(reference)))
    assert Store(str(where)).driver() == ""


@pytest.mark.parametrize("rounds", [1, 2, 3])
@pytest.mark.parametrize("point", range(3))
def test_driver_that_wakes_up_after_another_took_over_is_refused(
    reference: Path, tmp_path: Path, gone: None, point: int, rounds: int
) -> None:
    """It slept before a write of its second round; the other made so many rounds by then, and goes on after it."""
    where = tmp_path / "store"
    first, second = Store(str(where)), Store(str(where))
    later: list[Rounds] = []
    with ExitStack() as stack:

        def another(number: int) -> None:
            if number == 5 + 3 + point:
                stack.enter_context(second.driven())
                made(second, rounds)
                later.append(Rounds(MadeUp(), second, print))

        with pytest.raises(BadInput, match="drives this campaign"), touched(another), first.driven(manifest()):
            made(first)
        assert second.drives(second.events())
        assert second.rounds() == max(2, rounds)  # the first one ends its round if the other has written nothing yet
        with suppress(BadInput):  # what it has read is not the last any more then
            list(later[0].made(rounds, lambda number: number < made_up.ROUNDS))
    assert outcome(resumed(where)) == outcome(Store(str(reference)))


def test_end_of_a_driver_does_not_end_the_one_that_took_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = Store(str(tmp_path)), Store(str(tmp_path))
    with ExitStack() as stack:
        with first.driven(manifest()):
            monkeypatch.setattr(tables, "LEASE", -1.0)
            monkeypatch.setattr(drivers.socket, "gethostname", lambda: "elsewhere")
            stack.enter_context(second.driven())
            monkeypatch.setattr(tables, "LEASE", 900.0)
        assert Store(str(tmp_path)).driver() == f"process {os.getpid()} on elsewhere"
    assert Store(str(tmp_path)).driver() == ""


def test_driver_on_another_machine_counts_as_gone_when_it_was_not_heard_of(
    reference: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store = Store(str(shutil.copytree(reference, tmp_path / "store")))
    with store.driven():
        now = tables.time.time()
        with monkeypatch.context() as late:
            late.setattr(tables.time, "time", lambda: now + 901)
            assert store.driver(), "it is here, and runs"
        monkeypatch.setattr(drivers.socket, "gethostname", lambda: "elsewhere")
        assert store.driver()
        monkeypatch.setattr(tables.time, "time", lambda: now + 899)
        assert store.driver()
        monkeypatch.setattr(tables.time, "time", lambda: now + 901)
        assert not store.driver()
        monkeypatch.setattr(store, "last_round", lambda: 300.0)
        assert store.driver()


def test_driver_is_asked_to_stop_whoever_writes_at_the_same_moment(tmp_path: Path) -> None:
    store, other = Store(str(tmp_path)), Store(str(tmp_path))
    with store.driven(manifest()):
        assert not store.stop_asked()
        rivals = iter([lambda: other.insist(STOP), lambda: other.insist(STOP)])
        with pytest.MonkeyPatch.context() as patch:
            note = Store.note

            def late(events: Any, *added: Any) -> None:
                next(rivals, lambda: None)()
                note(store, events, *added)

            patch.setattr(store, "note", late)
            store.insist(STOP)
        assert [event["kind"] for event in other.events()].count(STOP) == 3
        assert store.stop_asked()
    with store.driven():
        assert not store.stop_asked()


# ---- Many rounds


def test_rounds_are_known_and_replaced_after_files_were_put_together_and_logs_cut(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    with pytest.MonkeyPatch.context() as patch, store.driven(manifest()):
        patch.setattr(tables, "TIDY", 40)
        for number in range(120):
            rows = {name: made_up.table(name, [{"round": number}] if name == "figures" else []) for name in WRITTEN}
            store.commit(
                number, number, {n: t.set_column(0, "round", pc.cast(t["round"], pa.int32())) for n, t in rows.items()}
            )
        store.opened["figures"].create_checkpoint()
        store.opened["figures"].cleanup_metadata()
        logs = [*(tmp_path / "figures" / "_delta_log").glob("*.checkpoint.parquet")]
        assert len(logs) >= 2
        assert len(store.opened["figures"].file_uris()) == 1
        assert Store(str(tmp_path)).rounds() == store.rounds() == 120
        assert sorted(store.figures()["round"].to_pylist()) == [*range(120)]


WRITTEN = ("states", "findings", "figures")


def test_time_of_a_campaign_is_that_of_its_rounds_so_one_that_ended_by_it_need_not_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, goal, clock = Store(str(tmp_path)), Goal(seconds=0.2), campaign.perf_counter
    monkeypatch.setattr(campaign, "perf_counter", lambda: 2 * clock())  # half of the time is nobody's
    with store.driven(manifest()):
        totals = campaign.run(MadeUp(), store, goal, lambda totals: None, print)
    assert goal.reached(totals.rounds, totals.seconds)


# ---- Read while another process writes


class Looking(Store):
    """Somebody else's store; whenever it is looked at, another round has just been written."""

    def __init__(self, where: Path, driver: Store) -> None:
        super().__init__(str(where))
        self.driven_by = driver

    def table(self, name: str) -> Any:
        made(self.driven_by, self.driven_by.rounds() + 1)
        return super().table(name)


def test_totals_are_those_of_the_rounds_that_they_count(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    with store.driven(manifest()):
        totals = totals_of(Looking(tmp_path, store))
    figures = store.figures()
    wanted = Totals(manifest())
    wanted.add(figures.filter(pc.less(figures["round"], totals.rounds)), totals.rounds)
    assert 0 < totals.rounds < store.rounds()
    assert totals == wanted


def test_report_tells_findings_of_the_rounds_that_it_tells_figures_of(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    with store.driven(manifest()):
        report = report_of(Looking(tmp_path, store), "")
    findings = store.whole("findings", rounds=report.figures.rounds)
    assert 0 < report.figures.rounds < store.rounds()
    assert sum(entry.walks for entry in report.entries) == sum(findings["count"].to_pylist())


# ---- What is no store, or a damaged one


def test_place_that_holds_no_campaign_is_told_in_a_line(tmp_path: Path, reference: Path) -> None:
    (tmp_path / "file").write_text("something")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "manifest.json").write_text('{"format": 1}')
    (tmp_path / "loop").symlink_to("loop")
    for name, says in {
        "file": "is a file; the store of a campaign is a folder",
        "file/store": "cannot be read: Not a directory",
        "old": "a store of format 1; broker-tck 0.1.0 reads it, of commit 3ed7418 or before",
        "loop": "cannot be read: Too many levels of symbolic links",
        "": f"has no campaign; `broker-tck fuzz --store {tmp_path}/` starts one",
        "none": f"has no campaign; `broker-tck fuzz --store {tmp_path}/none` starts one",
        "a[1]": "the package deltalake cannot write to a path with [, ] or %",
    }.items():
        with pytest.raises(BadInput) as raised:
            _ = Store(f"{tmp_path}/{name}").manifest
        assert str(raised.value) == f"{tmp_path}/{name}: {says}"


def newer(store: Path) -> None:
    """Have a manifest of a format to come."""
    kept = Store(str(store))
    text = json.dumps(msgspec.to_builtins(kept.manifest) | {"format": 3})
    kept.note(kept.events(), (tables.MANIFEST, text))


def lost(store: Path) -> None:
    """Lose the file of a table's rows."""
    for path in (store / "figures").glob("*.parquet"):
        path.unlink()


def cut(store: Path) -> None:
    """Lose the end of a table's log."""
    path = max((store / "figures" / "_delta_log").glob("*.json"))
    path.write_bytes(path.read_bytes()[:100])


def cut_rows(store: Path) -> None:
    """Lose the end of a table's rows."""
    for path in (store / "figures").glob("*.parquet"):
        path.write_bytes(path.read_bytes()[:-100])


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (newer, "a store of format 3; this kit reads and writes format 2"),
        (lost, "table figures cannot be read: Object at location .* not found: No such file or directory .os error 2."),
        (cut, "table figures cannot be read: Json error: Truncated record whilst reading string"),
        (cut_rows, "table figures cannot be read: Generic LocalFileSystem error: Requested range was invalid"),
    ],
)
def test_store_that_is_damaged_is_told_in_a_line(
    reference: Path, tmp_path: Path, damage: Callable[[Path], None], says: str
) -> None:
    where = Path(shutil.copytree(reference, tmp_path / "store"))
    damage(where)
    store = Store(str(where))
    with pytest.raises(BadInput) as raised:
        _ = store.manifest, store.figures()
    assert re.fullmatch(f"{where}: {says}", str(raised.value))


# ---- Merging


def test_merged_campaigns_are_summed_and_what_they_share_is_counted_once(
    reference: Path, tmp_path: Path, gone: None
) -> None:
    one, other, both = Store(str(reference)), Store(str(tmp_path / "other")), Store(str(tmp_path / "both"))
    with other.driven(manifest(seed=8)):
        made(other, 2)

    def kill(number: int) -> None:
        if number >= 4 + 3:
            raise Killed

    both.check_new()
    with pytest.raises(Killed), touched(kill):
        merge([one, other], both)
    again = Store(str(tmp_path / "both"))
    again.check_new()
    assert merge([one, other], again).merged == [one.manifest, other.manifest]
    assert (again.rounds(), again.manifest.merged) == (5, [one.manifest, other.manifest])
    assert {*again.figures()["round"].to_pylist()} == {*range(5)}
    with pytest.raises(BadInput, match="holds a campaign already"):
        again.check_new()

    def counted(store: Store) -> list[Any]:
        figures = store.figures().group_by(["kind", "subject", "profile", "name"]).aggregate([("count", "sum")])
        return sorted(map(str, (row for row in figures.to_pylist() if row["kind"] not in ("states", "findings"))))

    joined = pa.concat_tables([one.figures(), other.figures()])
    assert counted(again) == counted(type("Both", (), {"figures": lambda self: joined})())
    keys = {"states": ("subject", "profile", "name", "key"), "findings": ("subject", "profile", "rules", "shape")}
    for name, columns in keys.items():
        parts = [{tuple(row[c] for c in columns) for row in store.whole(name).to_pylist()} for store in (one, other)]
        assert parts[0] & parts[1], "both have some in common"
        assert {tuple(row[c] for c in columns) for row in again.whole(name).to_pylist()} == parts[0] | parts[1]
        fresh = sum(row["count"] for row in again.figures().to_pylist() if row["kind"] == name)
        assert fresh == len(parts[0] | parts[1])
    counts = [sum(store.findings()["count"].to_pylist()) for store in (one, other, again)]
    assert counts[2] == counts[0] + counts[1]
    key = tuple(again.findings().select(keys["findings"]).to_pylist()[0].values())
    assert json.loads(again.texts([key])[key])["shape"] == key[3]
    with pytest.raises(BadInput, match="no round is complete"):
        merge([resumed_to(tmp_path / "a", 0, 9), resumed_to(tmp_path / "b", 0, 10)], Store(str(tmp_path / "c")))


def resumed_to(where: Path, rounds: int, seed: int) -> Store:
    """A campaign of so many rounds."""
    store = Store(str(where))
    with store.driven(manifest(seed=seed)):
        made(store, rounds)
    return store


# ---- Reducing


def drawn(chance: Random, count: int) -> pa.Table:
    """Rows of a round in any order."""
    batches = [batch_of(shard_rows(7, chance.randrange(2), shard), shard) for shard in range(count)]
    rows = pa.Table.from_batches(batches, arrow_schema(ROWS)).to_pylist()
    chance.shuffle(rows)
    return pa.Table.from_pylist(rows, arrow_schema(ROWS))


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_reduced_to_the_same_however_they_were_split_and_reduced_before(seed: int) -> None:
    chance = Random(seed)
    rows = drawn(chance, 6)
    if seed % 2:  # as if none could be reduced
        unreduced = [{**row, "key": row["key"].removesuffix("]")} for row in rows.to_pylist()]
        rows = pa.Table.from_pylist(unreduced, rows.schema)
    whole = reduced(rows)
    assert reduced(whole) == whole
    cut = sorted(chance.sample(range(len(rows) + 1), 2))
    parts = [rows.slice(start, end - start) for start, end in zip([0, *cut], [*cut, len(rows)], strict=True)]
    chance.shuffle(parts)
    nested = reduced(pa.concat_tables([reduced(pa.concat_tables(map(reduced, parts[:2]))), parts[2]]))
    assert nested == whole
    assert len({tuple(row[key] for key in KEYS) for row in whole.to_pylist()}) == len(whole)
    assert sum(whole["count"].to_pylist()) == sum(rows["count"].to_pylist())
    shapes = [row["key"] for row in whole.to_pylist() if row["kind"] == FINDING]
    assert len(shapes) == MOST_SHAPES + 1
    assert OTHERS in shapes


def test_shapes_of_a_store_are_few_and_count_all_findings_however_many_rounds() -> None:
    known, counted, found = Known(made_up.table("states", []), made_up.table("findings", [])), 0, []
    for number in range(30):
        rows = reduced(pa.Table.from_batches(MadeUp().run(manifest(), number, range(3))))
        counted += sum(row["count"] for row in rows.to_pylist() if row["kind"] == FINDING)
        found += known.merged(number, rows, 0)["findings"].to_pylist()
    assert sum(row["count"] for row in found) == counted
    shapes = {row["shape"] for row in found}
    assert MOST_SHAPES <= len(shapes) <= 2 * MOST_SHAPES
    for shape in shapes:
        told = [row for row in found if row["shape"] == shape and row["text"]]
        assert [row["length"] for row in told] == sorted({row["length"] for row in told}, reverse=True)
        assert {json.loads(row["text"])["shape"] for row in told} == {shape}
