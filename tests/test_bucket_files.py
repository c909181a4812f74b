"""Snapshots and properties in files: round trips, damage of every byte, and processes killed at each step."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from bucket_kit import Broker, Config
from file_rig import FileRig, ended
from pyroaring import BitMap

from broker_tck.implementations.bucket_delivery.files import FileCursorProperties, FileSnapshotStorage, disk
from broker_tck.implementations.bucket_delivery.packed import Packed, packed
from broker_tck.implementations.interface import (
    BadVersionException,
    BucketNotExistException,
    BucketSnapshotPersistenceException,
    BucketSnapshotStorage,
    CursorProperties,
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


def metadata_of(segments: list[Packed]) -> list[SegmentMetadata]:
    return [
        SegmentMetadata(
            segment[0][0],
            segment[-1][0],
            {at: BitMap([row[2] for row in segment if row[1] == at]).serialize() for at in {*segment.ledgers}},
        )
        for segment in segments
    ]


def created(storage: FileSnapshotStorage, segments: Any = SEGMENTS) -> Any:
    known = metadata_of([packed(segment) for segment in segments])
    return ended(lambda done: storage.create_bucket_snapshot(known, segments, KEY, done))


def metadata(storage: FileSnapshotStorage, number: int) -> Any:
    said = ended(lambda done: storage.get_bucket_snapshot_metadata(number, done))
    return said if isinstance(said, Exception) else [*said]


def segments(storage: FileSnapshotStorage, number: int, first: int, last: int) -> Any:
    return ended(lambda done: storage.get_bucket_snapshot_segment(number, first, last, done))


def deleted(storage: FileSnapshotStorage, number: int) -> Any:
    return ended(lambda done: storage.delete_bucket_snapshot(number, done))


# ---- Snapshots


def test_a_snapshot_is_read_as_it_was_written(tmp_path: Path) -> None:
    storage: BucketSnapshotStorage = FileSnapshotStorage(tmp_path / "new" / "folder")
    assert isinstance(storage, FileSnapshotStorage)
    assert created(storage) == 1
    assert created(storage, [[*segment] for segment in SEGMENTS]) == 2
    storage = FileSnapshotStorage(tmp_path / "new" / "folder")
    for number in (1, 2):
        assert metadata(storage, number) == metadata_of(SEGMENTS)
        assert segments(storage, number, 1, 3) == SEGMENTS
        assert segments(storage, number, 2, 2) == SEGMENTS[1:2]
    one, other = (path.read_bytes() for path in sorted((tmp_path / "new" / "folder").iterdir()))
    assert one == other
    for first, last in ((0, 1), (1, 4), (3, 2)):
        assert isinstance(segments(storage, 1, first, last), IllegalArgumentException)


def test_no_number_is_given_again(tmp_path: Path) -> None:
    storage = FileSnapshotStorage(tmp_path)
    assert [created(storage) for _ in range(3)] == [1, 2, 3]
    assert deleted(storage, 3) is None
    assert deleted(storage, 3) is None, "as good as deleted"
    assert deleted(storage, 1) is None
    assert isinstance(metadata(storage, 3), BucketNotExistException)
    assert isinstance(segments(storage, 3, 1, 1), BucketNotExistException)
    assert storage.numbers() == [2]
    storage = FileSnapshotStorage(tmp_path)
    assert created(storage) == 4
    assert [deleted(storage, number) for number in (4, 2)] == [None, None]
    assert [path.name for path in tmp_path.iterdir()] == ["4.deleted"]


def test_what_is_no_bitmap_is_told_and_not_stored(tmp_path: Path) -> None:
    storage = FileSnapshotStorage(tmp_path)
    for bitmap in (b"", b"no bitmap"):
        broken = [SegmentMetadata(5, 5, {1: bitmap})]
        told = ended(lambda done, said=broken: storage.create_bucket_snapshot(said, SEGMENTS[:1], KEY, done))
        assert isinstance(told, InvalidSnapshotException)
    assert storage.numbers() == []


def test_what_was_half_written_is_swept(tmp_path: Path) -> None:
    (tmp_path / "1.snapshot.tmp").write_bytes(b"half")
    (tmp_path / "notes").write_text("of somebody else")
    storage = FileSnapshotStorage(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]
    assert created(storage) == 1


def test_a_file_that_is_torn_at_any_byte_is_told(tmp_path: Path) -> None:
    storage = FileSnapshotStorage(tmp_path)
    created(storage)
    path = tmp_path / "1.snapshot"
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert isinstance(metadata(storage, 1), InvalidSnapshotException), length
        assert isinstance(segments(storage, 1, 3, 3), InvalidSnapshotException), length
    path.write_bytes(whole + b"\0")
    assert isinstance(metadata(storage, 1), InvalidSnapshotException)
    path.write_bytes(whole)
    assert segments(storage, 1, 1, 3) == SEGMENTS


def test_no_flipped_byte_is_taken_for_what_was_written(tmp_path: Path) -> None:
    storage = FileSnapshotStorage(tmp_path)
    created(storage)
    path = tmp_path / "1.snapshot"
    whole = path.read_bytes()
    reads: list[tuple[Callable[[], Any], Any]] = [(lambda: metadata(storage, 1), metadata_of(SEGMENTS))]
    reads += [(lambda k=k: segments(storage, 1, k, k), SEGMENTS[k - 1 : k]) for k in (1, 2, 3)]
    for at in range(len(whole)):
        for bit in (1, 128):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :])
            answers = [read() for read, _ in reads]
            damaged = [isinstance(answer, InvalidSnapshotException) for answer in answers]
            assert sum(damaged) in (1, 4), "one part alone, or the head"
            assert all(bad or a == good for bad, a, (_, good) in zip(damaged, answers, reads, strict=True))


def test_a_segment_is_read_without_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = FileSnapshotStorage(tmp_path)
    many = [packed([(n, n, n)] * 1000) for n in range(1, 6)]
    created(storage, many)
    read: list[int] = []
    opened = FileSnapshotStorage._open

    class Counting:
        def __init__(self, file: Any) -> None:
            self.file = file

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

        def seek(self, *where: int) -> Any:
            return self.file.seek(*where)

        def read(self, n: int) -> Any:
            read.append(n)
            return self.file.read(n)

    monkeypatch.setattr(FileSnapshotStorage, "_open", lambda self, number: Counting(opened(self, number)))
    assert segments(storage, 1, 4, 4) == many[3:4]
    assert sum(read) == 20 * 1000 + 16 + 6 * 20
    read.clear()
    assert len(metadata(storage, 1)) == 5
    assert sum(read) < 1000


def test_a_disk_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage, cursor = FileSnapshotStorage(tmp_path), FileCursorProperties(tmp_path / "properties")
    created(storage)

    def full(*_: object) -> int:
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(disk.os, "fsync", full)
        assert isinstance(created(storage), BucketSnapshotPersistenceException)
        assert isinstance(deleted(storage, 1), BucketSnapshotPersistenceException)
        put = ended(lambda done: cursor.put_cursor_property(KEY, "1", done))
        assert isinstance(put, BucketSnapshotPersistenceException)
    assert not [*tmp_path.glob("*.tmp")]
    assert not cursor.get_cursor_properties()
    assert segments(storage, 1, 1, 3) == SEGMENTS
    with monkeypatch.context() as patched:
        patched.setattr(disk, "settle", full)
        assert isinstance(created(storage), BucketSnapshotPersistenceException), "it may be there after a crash, or not"
        put = ended(lambda done: cursor.put_cursor_property(KEY, "1", done))
        assert isinstance(put, BucketSnapshotPersistenceException)
    assert created(storage) == 3
    assert isinstance(ended(lambda done: cursor.put_cursor_property(KEY, "3", done)), BadVersionException)
    assert ended(lambda done: cursor.put_cursor_property(KEY, "3", done)) is None


def test_a_file_is_durable_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = FileSnapshotStorage(tmp_path)
    calls: list[str] = []
    for name in ("write", "fsync", "replace"):
        monkeypatch.setattr(disk.os, name, noting(calls, name))
    created(storage)
    assert calls == ["write"] * 5 + ["fsync", "replace", "fsync"]


def noting(calls: list[str], name: str) -> Callable[..., Any]:
    does = getattr(os, name)
    return lambda *args: (calls.append(name), does(*args))[1]


# ---- Properties


def test_properties_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "properties"
    cursor: CursorProperties = FileCursorProperties(path)
    assert isinstance(cursor, FileCursorProperties)
    assert (cursor.get_cursor_properties(), cursor.get_mark_deleted_position()) == ({}, None)
    assert ended(lambda done: cursor.put_cursor_property("b", "1", done)) is None
    assert ended(lambda done: cursor.put_cursor_property("a\n\u20ac", "2", done)) is None
    cursor.mark_delete((2**62, -1))
    assert ended(lambda done: cursor.remove_cursor_property("c", done)) is None
    cursor = FileCursorProperties(path)
    assert [*cursor.get_cursor_properties().items()] == [("a\n\u20ac", "2"), ("b", "1")]
    assert cursor.get_mark_deleted_position() == (2**62, -1)
    assert ended(lambda done: cursor.remove_cursor_property("b", done)) is None
    assert FileCursorProperties(path).get_cursor_properties() == {"a\n\u20ac": "2"}


def test_damaged_properties_are_told(tmp_path: Path) -> None:
    path = tmp_path / "properties"
    cursor = FileCursorProperties(path)
    ended(lambda done: cursor.put_cursor_property(KEY, "1", done))
    whole = path.read_bytes()
    for at in range(len(whole)):
        for bad in (whole[:at], whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]):
            path.write_bytes(bad)
            with pytest.raises(InvalidSnapshotException):
                FileCursorProperties(path)
    assert isinstance(ended(lambda done: cursor.put_cursor_property(KEY, "2", done)), InvalidSnapshotException)


def test_properties_that_somebody_else_has_changed_are_read_again(tmp_path: Path) -> None:
    one, other = (FileCursorProperties(tmp_path / "properties") for _ in range(2))
    assert ended(lambda done: one.put_cursor_property("a", "1", done)) is None
    assert isinstance(ended(lambda done: other.put_cursor_property("b", "2", done)), BadVersionException)
    assert ended(lambda done: other.put_cursor_property("b", "2", done)) is None
    assert FileCursorProperties(tmp_path / "properties").get_cursor_properties() == {"a": "1", "b": "2"}


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
            lambda config, capabilities: FileRig(tmp_path / str(next(folders)), config, capabilities),
            contract.model("ideal"),
            subject.capabilities,
            seconds=100,
        )
        assert done.difference is None, (number, done.difference)


LEDGERS = 9
EACH = 3
POSITIONS = [(ledger, entry) for ledger in range(1, LEDGERS + 1) for entry in range(EACH)]


def opened(folder: Path) -> Broker:
    """A tracker over files, with neighbours to merge, and a trim."""
    config = Config(min_index_count=3, max_buckets=2)
    return Broker(config, FileSnapshotStorage(folder), FileCursorProperties(folder / "properties"))


def story(folder: Path, told: Callable[[str], None]) -> None:
    """Seals, merges, loads, deletions, a trim and a clear; what the storage was asked and has done is told."""
    broker = opened(folder)
    storage = broker.storage
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
        broker.add(ledger, entry, 100 * entry + ledger)
        if (ledger, entry) == (6, 0):
            broker.cursor.mark_delete((3, -1))
    broker.advance(105)
    broker.get()
    broker.tracker.clear()
    for ledger, entry in POSITIONS[:9]:
        broker.add(ledger, entry, 1000 * (entry + 1))


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
    storage = FileSnapshotStorage(folder)
    for number in storage.numbers():
        said = metadata(storage, number)
        stored = segments(storage, number, 1, len(said))
        assert said == metadata_of(stored)
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
    broker = opened(folder)
    live = (broker.cursor.get_mark_deleted_position() or (0, 0))[0]
    held = [position for position in POSITIONS if broker.tracker.contains_message(*position)]
    assert broker.tracker.get_number_of_delayed_messages() == len(held)
    now = {position for position in POSITIONS if not broker.add(*position, 5000)}
    assert not now
    out = broker.drained()
    assert len(out) == len({*out})
    assert {*out} == {position for position in POSITIONS if position[0] >= live}
    broker.tracker.clear()
    assert not broker.cursor.get_cursor_properties()
    assert len(broker.storage.numbers()) <= 1, "the one that was stored when its key was not"
