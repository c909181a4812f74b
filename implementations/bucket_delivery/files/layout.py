"""The format of a snapshot file: a head, what the snapshot says of its segments, and the segments.

All numbers are little-endian. The head names the offset, length and checksum of each part, and has one of its own:

======  =========================================================================================
bytes   head
======  =========================================================================================
8       magic
2       version of the format
2       reserved: 0
4       n, the number of parts: that of the metadata, which comes first, and one for each segment
8       length of the file
20 n    of each part offset (8), length (8) and CRC-32 (4)
4       CRC-32 of the head up to here
======  =========================================================================================

The metadata begins with the bucket's key, behind its length (2), and three counts (4 each): of segments, of their
bitmaps, and of the bitmaps of all segments together. Columns follow: first and last time of each segment (8 each), how
many bitmaps it has (4), and of each bitmap the ledger (8) and the length (4). The bitmaps end it.

A segment has a column each of times and ledgers (8 bytes a number) and of entries (4 bytes): it is read back without a
look at its numbers. Where times were stored as differences, to be narrower, that took a thousand times as long.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple, overload
from zlib import crc32

from broker_tck.implementations.bucket_delivery.metadata import PackedMetadata, packed_metadata
from broker_tck.implementations.bucket_delivery.packed import Packed
from broker_tck.implementations.bucket_delivery.positions import PositionSet, read_entries
from broker_tck.implementations.interface import SegmentMetadata

MAGIC = b"BKTSNAP\n"
VERSION = 1
START = struct.Struct("<8sHHIQ")
PART = struct.Struct("<QQI")
CHECKSUM = struct.Struct("<I")
KEY = struct.Struct("<H")
COUNTS = struct.Struct("<III")
"""The number of segments, of their bitmaps, and of the bitmaps of all segments together: 0 where these are left out,
as some position is in several segments."""
INDEX_SIZE = 20
"""Bytes of an index."""


class Damaged(ValueError):
    """What was read is not what was written; the text says what is wrong."""


class Part(NamedTuple):
    """Where a part lies in a file."""

    offset: int
    length: int
    checksum: int

    def checked(self, data: bytes) -> bytes:
        """The part's bytes. ``Damaged`` where they are others."""
        if len(data) != self.length or crc32(data) != self.checksum:
            raise Damaged(f"the part at {self.offset} is damaged")
        return data


# ---- The head


def head_size(parts: int) -> int:
    """The bytes of the head of a file of so many parts."""
    return START.size + parts * PART.size + CHECKSUM.size


def head_of(parts: Sequence[Part]) -> bytes:
    """The head of a file."""
    length = parts[-1].offset + parts[-1].length
    head = START.pack(MAGIC, VERSION, 0, len(parts), length) + b"".join(PART.pack(*part) for part in parts)
    return head + CHECKSUM.pack(crc32(head))


def parts_in(start: bytes) -> tuple[int, int]:
    """The number of parts and the length of the file, as the first bytes say; ``Damaged`` where these are no start."""
    if len(start) < START.size:
        raise Damaged("the file ends within its head")
    magic, version, reserved, parts, length = START.unpack_from(start)
    if (magic, version, reserved) != (MAGIC, VERSION, 0) or not parts or head_size(parts) > length:
        raise Damaged("no snapshot of this version")
    return parts, length


class Head(Sequence[Part]):
    """The parts that a whole head names, each unpacked when it is asked for."""

    def __init__(self, head: bytes) -> None:
        """``Damaged`` where the head is not what was written."""
        self._body, checksum = head[: -CHECKSUM.size], head[-CHECKSUM.size :]
        if CHECKSUM.pack(crc32(self._body)) != checksum:
            raise Damaged("the head is damaged")

    def __len__(self) -> int:
        return (len(self._body) - START.size) // PART.size

    @overload
    def __getitem__(self, at: int) -> Part: ...
    @overload
    def __getitem__(self, at: slice) -> list[Part]: ...
    def __getitem__(self, at: int | slice) -> Part | list[Part]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        return Part(*PART.unpack_from(self._body, START.size + range(len(self))[at] * PART.size))


# ---- Metadata


def metadata_bytes(metadata: Sequence[SegmentMetadata], key: str) -> bytes:
    """What a snapshot says of its segments, and the key of its bucket.

    ``InvalidSnapshotException`` where a bitmap is none.
    """
    said, text = packed_metadata(metadata), key.encode()
    whole = said.found_whole() or PositionSet()
    ledgers, bitmaps = said.ledgers + array("q", whole.ledgers), [*said.bitmaps, *whole.serialized().values()]
    columns = said.first_times, said.last_times, said.counts, ledgers, array("I", map(len, bitmaps))
    numbers = (_little_endian(column).tobytes() for column in columns)
    counts = COUNTS.pack(len(said), len(said.bitmaps), len(whole.ledgers))
    return b"".join([KEY.pack(len(text)), text, counts, *numbers, *bitmaps])


def read_metadata(data: bytes) -> PackedMetadata:
    """What a snapshot says of its segments, from the bytes of a part that was checked."""
    at = KEY.size + KEY.unpack_from(data)[0]
    n, parts, wholes = COUNTS.unpack_from(data, at)
    reader = Columns(data, at + COUNTS.size)
    firsts, lasts, counts = reader.read("q", n), reader.read("q", n), reader.read("I", n)
    ledgers, lengths = reader.read("q", parts + wholes), reader.read("I", parts + wholes)
    bitmaps = [data[start:end] for start, end in pairwise(accumulate(lengths, initial=reader.at))]
    whole = dict(zip(ledgers[parts:], map(read_entries, bitmaps[parts:]), strict=True))
    return PackedMetadata(
        firsts, lasts, counts, ledgers[:parts], bitmaps[:parts], PositionSet(whole) if whole else None
    )


# ---- Segments


def segment_bytes(segment: Packed) -> bytes:
    """A segment, column by column."""
    return b"".join(_little_endian(column).tobytes() for column in (segment.times, segment.ledgers, segment.entries))


def read_segment(data: bytes) -> Packed:
    """A segment, from the bytes of a part that was checked."""
    n, reader = len(data) // INDEX_SIZE, Columns(data, 0)
    return Packed(reader.read("q", n), reader.read("q", n), reader.read("I", n))


class Columns:
    """Reads columns of numbers one after another, from ``at`` on."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self.at = at

    def read(self, typecode: str, n: int) -> array[int]:
        """The next ``n`` numbers."""
        column: array[int] = array(typecode)
        start, self.at = self.at, self.at + n * column.itemsize
        column.frombytes(self._data[start : self.at])
        return _little_endian(column)


def _little_endian(column: array[int]) -> array[int]:
    """A column as it is stored, or one that was stored as it is here."""
    if sys.byteorder == "little":
        return column
    swapped = column[:]
    swapped.byteswap()
    return swapped
