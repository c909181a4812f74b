"""Snapshots and properties in files: round trips, damage of every byte, and processes killed at each step."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from file_adapter import START, FileAdapter, FileDurable, broker, drained
from pyroaring import BitMap

from broker_tck.implementations.bucket_delivery.files import FileCursorProperties, disk
from broker_tck.implementations.bucket_delivery.packed import Packed, packed
from broker_tck.implementations.interface import (
    BucketNotExistException,
    BucketSnapshotPersistenceException,
    IllegalArgumentException,
    InvalidSnapshotException,
    SegmentMetadata,
)
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import resolve
from broker_tck.properties.engine.walk import walk, walk_seed

KEY = "#pulsar.internal.delayed.bucket_1_3"
SEGMENTS = [
    packed([(5, 1, 0), (6, 2**62, 2**32 - 1)]),
    packed([(7, 3, 3)]),
    packed([(2**62, 1, 1), (2**62, 1, 2), (2**62, 2, 0)]),
]
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="a child is forked, to be killed")


def metadata_of(segments: Sequence[Packed]) -> list[SegmentMetadata]:
    return [
        SegmentMetadata(
            segment[0][0],
            segment[-1][0],
            {at: BitMap([row[2] for row in segment if row[1] == at]).serialize() for at in {*segment.ledgers}},
        )
        for segment in segments
    ]


SNAPSHOT: Any = metadata_of(SEGMENTS), SEGMENTS


def metadata(durable: FileDurable, number: int) -> Any:
    said = durable.metadata(number)
    return said if isinstance(said, Exception) else [*said]


# ---- Snapshots


def test_a_snapshot_is_read_as_it_was_written(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    durable = FileDurable(folder)
    assert durable.create(SNAPSHOT, KEY) == 1
    assert durable.create((SNAPSHOT[0], [[*segment] for segment in SEGMENTS]), KEY) == 2
    durable.opened()
    for number in (1, 2):
        assert metadata(durable, number) == metadata_of(SEGMENTS)
        assert durable.segments(number, 1, 3) == SEGMENTS
        assert durable.segments(number, 2, 2) == SEGMENTS[1:2]
    one, other = (path.read_bytes() for path in sorted(folder.iterdir()))
    assert one == other
    for first, last in ((0, 1), (1, 4), (3, 2)):
        assert isinstance(durable.segments(1, first, last), IllegalArgumentException)


def test_no_number_is_given_again(tmp_path: Path) -> None:
    durable = FileDurable(tmp_path)
    assert [durable.create(SNAPSHOT, KEY) for _ in range(3)] == [1, 2, 3]
    assert [durable.delete(number) for number in (3, 3, 1)] == [None] * 3, "one that is not there is as good as deleted"
    assert isinstance(durable.metadata(3), BucketNotExistException)
    assert isinstance(durable.segments(3, 1, 1), BucketNotExistException)
    assert durable.numbers() == [2]
    durable.opened()
    assert durable.create(SNAPSHOT, KEY) == 4
    assert [durable.delete(number) for number in (4, 2)] == [None, None]
    assert [path.name for path in tmp_path.iterdir()] == ["4.deleted"]


@pytest.mark.parametrize("bitmap", [b"", b"no bitmap"])
def test_what_is_no_bitmap_is_told_and_not_stored(bitmap: bytes, tmp_path: Path) -> None:
    durable = FileDurable(tmp_path)
    broken: Any = [SegmentMetadata(5, 5, {1: bitmap})], SEGMENTS[:1]
    assert isinstance(durable.create(broken, KEY), InvalidSnapshotException)
    assert durable.numbers() == []


def test_what_was_half_written_is_swept(tmp_path: Path) -> None:
    (tmp_path / "1.snapshot.tmp").write_bytes(b"half")
    (tmp_path / "notes").write_text("of somebody else")
    FileDurable(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


def test_no_torn_file_and_no_flipped_bit_is_taken_for_what_was_written(tmp_path: Path) -> None:
    durable = FileDurable(tmp_path)
    durable.create(SNAPSHOT, KEY)
    path = tmp_path / "1.snapshot"
    whole = path.read_bytes()
    good = [metadata_of(SEGMENTS), *([each] for each in SEGMENTS)]

    def damaged(content: bytes) -> int:
        path.write_bytes(content)
        answers = [metadata(durable, 1), *(durable.segments(1, k, k) for k in (1, 2, 3))]
        bad = [isinstance(answer, InvalidSnapshotException) for answer in answers]
        assert all(told or answer == right for told, answer, right in zip(bad, answers, good, strict=True))
        return sum(bad)

    assert damaged(whole) == 0
    assert damaged(whole + b"\0") == 4
    for at, byte in enumerate(whole):
        assert damaged(whole[:at]) == 4, at
        for bit in (1, 128):
            assert damaged(whole[:at] + bytes([byte ^ bit]) + whole[at + 1 :]) in (1, 4), (
                "one part alone, or the footer"
            )


def test_a_disk_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    durable = FileDurable(tmp_path)
    durable.create(SNAPSHOT, KEY)

    def full(*_: object) -> int:
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(disk.os, "fsync", full)
        for told in (durable.create(SNAPSHOT, KEY), durable.delete(1), durable.put(KEY, "1")):
            assert isinstance(told, BucketSnapshotPersistenceException)
    assert not [*tmp_path.glob("*.tmp")]
    assert not durable.properties
    assert durable.segments(1, 1, 3) == SEGMENTS
    with monkeypatch.context() as patched:
        patched.setattr(disk, "settle", full)
        for told in (durable.create(SNAPSHOT, KEY), durable.put(KEY, "1")):
            assert isinstance(told, BucketSnapshotPersistenceException), "it may be there after a crash, or not"
    assert durable.create(SNAPSHOT, KEY) == 3
    assert durable.properties == {KEY: "1"}


def test_a_file_is_durable_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    durable = FileDurable(tmp_path)
    calls: list[str] = []
    for name in ("write", "fsync", "replace"):
        monkeypatch.setattr(disk.os, name, noting(calls, name))
    durable.create(SNAPSHOT, KEY)
    assert calls == ["write"] * 5 + ["fsync", "replace", "fsync"]


def noting(calls: list[str], name: str) -> Callable[..., Any]:
    does = getattr(os, name)
    return lambda *args: (calls.append(name), does(*args))[1]


# ---- Properties


def test_properties_are_read_as_they_were_written(tmp_path: Path) -> None:
    durable = FileDurable(tmp_path)
    assert (durable.properties, durable.cursor.get_mark_deleted_position()) == ({}, None)
    assert [durable.put("b", "1"), durable.put("a\n\u20ac", "2"), durable.remove("c")] == [None] * 3
    durable.cursor.mark_delete((2**62, -1))
    durable.opened()
    assert [*durable.properties.items()] == [("a\n\u20ac", "2"), ("b", "1")]
    assert durable.cursor.get_mark_deleted_position() == (2**62, -1)
    assert durable.remove("b") is None
    durable.opened()
    assert durable.properties == {"a\n\u20ac": "2"}


def test_damaged_properties_are_told(tmp_path: Path) -> None:
    durable, path = FileDurable(tmp_path), tmp_path / "properties"
    durable.put(KEY, "1")
    whole = path.read_bytes()
    for at, byte in enumerate(whole):
        for bad in (whole[:at], whole[:at] + bytes([byte ^ 1]) + whole[at + 1 :]):
            path.write_bytes(bad)
            with pytest.raises(InvalidSnapshotException):
                FileCursorProperties(path)


# ---- The tracker over files


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_the_tracker_over_files_does_as_the_model(part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contract, subject = CONTRACTS["bucket-delivery"], resolve("bucket")
    # What a process has written is there for the next one without it, as no machine stops here.
    monkeypatch.setattr(disk.os, "fsync", lambda file: None)
    folders = count()
    for number in range(part * 10, part * 10 + 10):
        done = walk(
            contract,
            walk_seed(47, number),
            lambda config, capabilities: FileAdapter(tmp_path / str(next(folders)), config, capabilities),
            contract.model("ideal"),
            subject.capabilities,
            seconds=100,
        )
        assert done.difference is None, (number, done.difference)


LEDGERS = 9
EACH = 3
POSITIONS = [(ledger, entry) for ledger in range(1, LEDGERS + 1) for entry in range(EACH)]


def opened(folder: Path) -> FileAdapter:
    """A tracker over files, with neighbours to merge, and a trim."""
    adapter: FileAdapter = broker(folder, min_index_count=3, max_buckets=2)
    return adapter


def story(folder: Path, told: Callable[[str], None]) -> None:
    """Seals, merges, loads, deletions, a trim and a clear; what the storage was asked and has done is told."""
    adapter = opened(folder)
    storage: Any = adapter.durable.storage
    create, delete = storage._create, storage._delete

    def creating(*args: Any) -> Any:
        number = create(*args)
        told(f"+{number}")
        return number

    def deleting(number: int) -> None:
        told(f"-{number}")
        delete(number)

    storage._create, storage._delete = creating, deleting
    for ledger, entry in POSITIONS:
        adapter.add(ledger, entry, START + 100 * entry + ledger)
        if (ledger, entry) == (6, 0):
            adapter.mark(3, -1)
    adapter.advance(105)
    adapter.get(10**9)
    adapter.clear()
    for ledger, entry in POSITIONS[:9]:
        adapter.add(ledger, entry, START + 1000 * (entry + 1))


class Deadly:
    """The module ``os``, of whose calls that write one kills the process: a write when half of it is done."""

    def __init__(self, fatal: int) -> None:
        self.left = fatal

    def __getattr__(self, name: str) -> Any:
        does = getattr(os, name)
        return self.guarded(name, does) if name in ("write", "fsync", "replace", "unlink") else does

    def guarded(self, name: str, does: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            self.left -= 1
            if self.left:
                return does(*args)
            if name == "write":
                does(args[0], args[1][: len(args[1]) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
            raise AssertionError("killed")

        return call


def killed(folder: Path, fatal: int) -> tuple[bool, list[str]]:
    """Have a process do the story and be killed at a call; whether it was, and what it had told before."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads, which the child does not use
        child = os.fork()
    if child == 0:
        status = 1
        try:
            disk.os = Deadly(fatal)  # type: ignore[attr-defined]
            story(folder, lambda text: os.write(writing, f"{text}\n".encode()) and None)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, encoding="ascii") as told:
        lines = told.read().split()
    _, how = os.waitpid(child, 0)
    assert how in (0, signal.SIGKILL), how
    return how == signal.SIGKILL, lines


def whole_snapshots(folder: Path) -> Iterator[int]:
    """The numbers of all snapshots, each of which is read to its last byte."""
    durable = FileDurable(folder)
    for number in durable.numbers():
        said = metadata(durable, number)
        assert said == metadata_of(durable.segments(number, 1, len(said)))
        yield number


@forks
@pytest.mark.slow
def test_a_killed_process_leaves_whole_snapshots_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What a killed process has written is there without it: it is the machine that must not stop.
    monkeypatch.setattr(disk.os, "fsync", lambda file: None)
    for fatal in count(1):
        folder = tmp_path / str(fatal)
        folder.mkdir()
        dead, told = killed(folder, fatal)
        there = [*whole_snapshots(folder)]
        begun = {int(text[1:]) for text in told if text[0] == "-"}
        assert {int(text[1:]) for text in told if text[0] == "+"} - begun <= {*there}
        assert not [*folder.glob("*.tmp")]
        recovers(folder)
        if not dead:
            break
    assert fatal > 100, "the story has that many calls that write"


def recovers(folder: Path) -> None:
    """Another tracker takes over what there is, is told again of all messages, and hands out each once."""
    adapter = opened(folder)
    live = (adapter.durable.mark or (0, 0))[0]
    assert adapter.seen()[0] == sum(bool(adapter.contains(*position)) for position in POSITIONS)
    assert all(adapter.add(*position, START + 5000) for position in POSITIONS)
    out = drained(adapter)
    assert len(out) == len({*out})
    assert {*out} == {position for position in POSITIONS if position[0] >= live}
    adapter.clear()
    assert not adapter.durable.keys()
    assert len(adapter.snapshots()) <= 1, "the one that was stored when its key was not"
