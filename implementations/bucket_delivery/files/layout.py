"""The format of a snapshot file: what the snapshot says of its segments, the segments, and a footer.

The footer has the offset, length and CRC-32 of each part. The file ends with the footer's own length and CRC-32, and
with a magic that names the byte order. Numbers are stored in columns, as the machine has them, so that a segment is
read without a look at each.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Sequence
from typing import BinaryIO, NamedTuple
from zlib import crc32

import msgspec

from broker_tck.implementations.bucket_delivery.inventory import PackedMetadata, packed_metadata
from broker_tck.implementations.bucket_delivery.packed import Packed
from broker_tck.implementations.bucket_delivery.positions import PositionSet, read_entries
from broker_tck.implementations.interface import InvalidSnapshotException, SegmentMetadata

MAGIC = f"BKTSNP2{sys.byteorder[0]}".encode()
PART = struct.Struct("<QQI")
END = struct.Struct("<II8s")
"""Of a file: the footer's length and checksum, and the magic."""
INDEX_SIZE = 20
"""Bytes of an index: a column each of times and ledgers has 8, that of entries 4."""


class Part(NamedTuple):
    """Where a part lies in a file."""

    offset: int
    length: int
    checksum: int


def footer_of(parts: Sequence[Part]) -> bytes:
    """The footer of a file of these parts."""
    footer = b"".join(PART.pack(*part) for part in parts)
    return footer + END.pack(len(footer), crc32(footer), MAGIC)


def footer_in(file: BinaryIO) -> bytes:
    """The footer of a whole file. ``InvalidSnapshotException`` if its end is damaged."""
    size = file.seek(0, 2) - END.size
    if size < 0:
        raise InvalidSnapshotException("the file is too short")
    file.seek(size)
    length, checksum, magic = END.unpack(file.read(END.size))
    if magic != MAGIC or length > size:
        raise InvalidSnapshotException("no snapshot of this version, or not all of it")
    return _read(file, Part(size - length, length, checksum))


def segments_in(footer: bytes) -> int:
    """How many segments a file has."""
    return len(footer) // PART.size - 1


def part_of(file: BinaryIO, footer: bytes, number: int) -> bytes:
    """A part of a file: 0 is the metadata, and any other number a segment."""
    return _read(file, Part(*PART.unpack_from(footer, number * PART.size)))


def _read(file: BinaryIO, part: Part) -> bytes:
    """A part's bytes. ``InvalidSnapshotException`` if they are damaged."""
    file.seek(part.offset)
    data = file.read(part.length)
    if len(data) != part.length or crc32(data) != part.checksum:
        raise InvalidSnapshotException(f"the part at {part.offset} is damaged")
    return data


class _Metadata(msgspec.Struct, array_like=True):
    """What a snapshot says of its segments, as it is stored: columns, and bitmaps."""

    key: str
    """Of the bucket."""
    first_times: memoryview
    last_times: memoryview
    starts: memoryview
    ledgers: memoryview
    bitmaps: list[bytes]
    whole: dict[int, bytes]
    """All positions; none where these are left out, as some position is in several segments."""


def metadata_bytes(metadata: Sequence[SegmentMetadata], key: str) -> bytes:
    """What a snapshot says of its segments, and the key of its bucket.

    ``InvalidSnapshotException`` where a bitmap is none.
    """
    said = packed_metadata(metadata)
    whole = said.found_whole() or PositionSet()
    stored = _Metadata(
        key,
        memoryview(said.first_times),
        memoryview(said.last_times),
        memoryview(said.starts),
        memoryview(said.ledgers),
        [*said.bitmaps],
        whole.serialized(),
    )
    return msgspec.msgpack.encode(stored)


def read_metadata(data: bytes) -> PackedMetadata:
    """What a snapshot says of its segments, from the bytes of a part that was checked."""
    stored = msgspec.msgpack.decode(data, type=_Metadata)
    whole = {ledger: read_entries(bitmap) for ledger, bitmap in stored.whole.items()}
    return PackedMetadata(
        _column("q", stored.first_times),
        _column("q", stored.last_times),
        _column("I", stored.starts),
        _column("q", stored.ledgers),
        stored.bitmaps,
        PositionSet(whole) if whole else None,
    )


def _column(typecode: str, data: memoryview) -> array[int]:
    column: array[int] = array(typecode)
    column.frombytes(data)
    return column


def segment_bytes(segment: Packed) -> bytes:
    """A segment, column by column."""
    return b"".join(column.tobytes() for column in (segment.times, segment.ledgers, segment.entries))


def read_segment(data: bytes) -> Packed:
    """A segment, from the bytes of a part that was checked."""
    n = len(data) // INDEX_SIZE
    columns = memoryview(data)
    times, ledgers, entries = columns[: 8 * n], columns[8 * n : 16 * n], columns[16 * n :]
    return Packed(_column("q", times), _column("q", ledgers), _column("I", entries))
