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

A segment has a column each of times and ledgers (8 bytes a number) and of entries (4 bytes): it is read back without a
look at its numbers. Where times were stored as differences, to be narrower, that took a thousand times as long.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from zlib import crc32

from broker_tck.implementations.bucket_delivery.packed import Packed
from broker_tck.implementations.interface import SegmentMetadata

MAGIC = b"BKTSNAP\n"
VERSION = 1
START = struct.Struct("<8sHHIQ")
PART = struct.Struct("<QQI")
CHECKSUM = struct.Struct("<I")
KEY = struct.Struct("<H")
SEGMENT = struct.Struct("<qqI")
"""First and last time in milliseconds, and the number of ledgers."""
LEDGER = struct.Struct("<qI")
"""A ledger, and the length of its bitmap."""
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


def read_head(head: bytes) -> list[Part]:
    """The parts that a whole head names. ``Damaged`` where it is not what was written."""
    body, checksum = head[: -CHECKSUM.size], head[-CHECKSUM.size :]
    if CHECKSUM.pack(crc32(body)) != checksum:
        raise Damaged("the head is damaged")
    return [Part(*part) for part in PART.iter_unpack(body[START.size :])]


# ---- Metadata


def metadata_bytes(metadata: Sequence[SegmentMetadata], key: str) -> bytes:
    """What a snapshot says of its segments, and the key of its bucket."""
    text = key.encode()
    parts = [KEY.pack(len(text)), text]
    for first, last, bitmaps in metadata:
        parts.append(SEGMENT.pack(first, last, len(bitmaps)))
        for ledger, bitmap in bitmaps.items():
            parts += (LEDGER.pack(ledger, len(bitmap)), bitmap)
    return b"".join(parts)


def read_metadata(data: bytes) -> list[SegmentMetadata]:
    """What a snapshot says of its segments, from the bytes of a part that was checked."""
    at = KEY.size + KEY.unpack_from(data)[0]
    metadata: list[SegmentMetadata] = []
    while at < len(data):
        first, last, ledgers = SEGMENT.unpack_from(data, at)
        at += SEGMENT.size
        bitmaps: dict[int, bytes] = {}
        for _ in range(ledgers):
            ledger, length = LEDGER.unpack_from(data, at)
            at += LEDGER.size + length
            bitmaps[ledger] = data[at - length : at]
        metadata.append(SegmentMetadata(first, last, bitmaps))
    return metadata


# ---- Segments


def segment_bytes(segment: Packed) -> bytes:
    """A segment, column by column."""
    return b"".join(_little_endian(column).tobytes() for column in _columns(segment))


def read_segment(data: bytes) -> Packed:
    """A segment, from the bytes of a part that was checked."""
    n = len(data) // INDEX_SIZE
    segment, at = Packed(), 0
    for column in _columns(segment):
        end = at + n * column.itemsize
        column.frombytes(data[at:end])
        at = end
    return Packed(*map(_little_endian, _columns(segment)))


def _columns(segment: Packed) -> Iterator[array[int]]:
    yield from (segment.times, segment.ledgers, segment.entries)


def _little_endian(column: array[int]) -> array[int]:
    """A column as it is stored, or one that was stored as it is here."""
    if sys.byteorder == "little":
        return column
    swapped = column[:]
    swapped.byteswap()
    return swapped
