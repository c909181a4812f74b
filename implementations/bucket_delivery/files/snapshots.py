"""Snapshots in a folder: one file each, named by its number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, TypeVar
from zlib import crc32

from broker_tck.implementations.bucket_delivery.files.disk import make_folder, put_whole, remove, sweep
from broker_tck.implementations.bucket_delivery.files.layout import (
    Part,
    footer_in,
    footer_of,
    metadata_bytes,
    part_of,
    read_metadata,
    read_segment,
    segment_bytes,
    segments_in,
)
from broker_tck.implementations.bucket_delivery.inventory import PackedMetadata
from broker_tck.implementations.bucket_delivery.packed import Packed, packed
from broker_tck.implementations.interface import (
    BucketNotExistException,
    BucketSnapshotPersistenceException,
    DelayedIndex,
    Done,
    IllegalArgumentException,
    InvalidSnapshotException,
    SegmentMetadata,
)

T = TypeVar("T")

SUFFIX = ".snapshot"
DELETED = ".deleted"
"""An empty file with the highest number that was deleted: no number is given again, as a key may name it still."""


class FileSnapshotStorage:
    """A :class:`~broker_tck.implementations.interface.BucketSnapshotStorage`; each call ends before it returns.

    A change survives a crash once its call was answered. A snapshot is written under another name, so it is there as a
    whole or not at all. A segment is read without the others. One object at a time may write to a folder.

    A crash between a snapshot and its key leaves a snapshot to which no key leads; :attr:`numbers` tells which there
    are.
    """

    def __init__(self, folder: Path) -> None:
        """Open a folder, which is made if it is not there, and remove what a crash has left half-written."""
        make_folder(folder)
        sweep(folder)
        self._folder = folder
        self._deleted = max(self.numbers(DELETED), default=0)
        self._made = max([self._deleted, *self.numbers()])

    def numbers(self, suffix: str = SUFFIX) -> list[int]:
        """The numbers of all snapshots that are there, in ascending order."""
        return sorted(int(path.stem) for path in self._folder.glob(f"*{suffix}") if path.stem.isdecimal())

    # ---- The protocol

    def create_bucket_snapshot(
        self,
        metadata: Sequence[SegmentMetadata],
        segments: Sequence[Sequence[DelayedIndex]],
        bucket_key: str,
        done: Done[int],
    ) -> None:
        """Store a bucket, one segment at a time; a ``BucketSnapshotPersistenceException`` where that fails."""
        done(_answer(lambda: self._create(metadata, segments, bucket_key)))

    def get_bucket_snapshot_metadata(self, bucket_id: int, done: Done[Sequence[SegmentMetadata]]) -> None:
        """What a snapshot says of its segments. Its segments are not read."""
        done(_answer(lambda: self._metadata(bucket_id)))

    def get_bucket_snapshot_segment(
        self, bucket_id: int, first: int, last: int, done: Done[Sequence[Sequence[DelayedIndex]]]
    ) -> None:
        """Some segments, packed; ``IllegalArgumentException`` where there are no such segments."""
        done(_answer(lambda: self._segments(bucket_id, first, last)))

    def delete_bucket_snapshot(self, bucket_id: int, done: Done[None]) -> None:
        """Delete a snapshot, unless it is not there."""
        done(_answer(lambda: self._delete(bucket_id)))

    # ---- What the calls do

    def _create(self, metadata: Sequence[SegmentMetadata], segments: Sequence[Sequence[DelayedIndex]], key: str) -> int:
        number = self._made + 1
        path = self._path(number)
        try:
            put_whole(path, _parts(metadata_bytes(metadata, key), segments))
        except OSError:
            if path.exists():
                self._made = number
            raise
        self._made = number
        return number

    def _metadata(self, number: int) -> PackedMetadata:
        with self._open(number) as file:
            return read_metadata(part_of(file, footer_in(file), 0))

    def _segments(self, number: int, first: int, last: int) -> list[Packed]:
        with self._open(number) as file:
            footer = footer_in(file)
            n = segments_in(footer)
            if not 1 <= first <= last <= n:
                raise IllegalArgumentException(f"there are no segments {first} to {last} of {n}")
            return [read_segment(part_of(file, footer, number)) for number in range(first, last + 1)]

    def _delete(self, number: int) -> None:
        # While a higher number is there, that one says which comes next.
        if number == self._made and number > self._deleted:
            put_whole(self._path(number, DELETED), [])
            self._path(self._deleted, DELETED).unlink(missing_ok=True)
            self._deleted = number
        remove(self._path(number))

    def _open(self, number: int) -> BinaryIO:
        try:
            return self._path(number).open("rb")
        except FileNotFoundError:
            raise BucketNotExistException(f"there is no snapshot {number}") from None

    def _path(self, number: int, suffix: str = SUFFIX) -> Path:
        return self._folder / f"{number}{suffix}"


def _parts(metadata: bytes, segments: Sequence[Sequence[DelayedIndex]]) -> Iterator[bytes]:
    """The parts of a file, one in memory at a time."""
    at, parts = 0, []
    for number in range(len(segments) + 1):
        data = segment_bytes(packed(segments[number - 1])) if number else metadata
        parts.append(Part(at, len(data), crc32(data)))
        yield data
        at += len(data)
    yield footer_of(parts)


def _answer(call: Callable[[], T]) -> T | Exception:
    """What a call comes to: its result, or an error of the protocol."""
    try:
        return call()
    except OSError as error:
        return BucketSnapshotPersistenceException(str(error))
    except (BucketNotExistException, IllegalArgumentException, InvalidSnapshotException) as error:
        return error
