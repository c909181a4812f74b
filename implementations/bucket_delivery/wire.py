"""A bucket's snapshot as Pulsar writes it, in the wire format of protocol buffers: every release does it alike.

What is under test makes and reads its own messages; here are the bytes in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from broker_tck.implementations.interface import DelayedIndex, SegmentMetadata

LIST = 1
"""Of a snapshot's metadata, that of each segment; of a segment, each delayed index."""
BIT_MAP, MAX_SCHEDULE_TIMESTAMP, MIN_SCHEDULE_TIMESTAMP = 1, 2, 3
"""Of a segment's metadata."""
LEDGER, BITS = 1, 2
"""Of an entry of the map from ledgers to bitmaps."""
TIMESTAMP, LEDGER_ID, ENTRY_ID = 1, 2, 3
"""Of a delayed index."""

NUMBER, BYTES = 0, 2
"""The kinds of fields that there are."""
LONG = 2**64


def varint(number: int) -> bytes:
    """A number; one below zero is written as Java has it, in two's complement."""
    number %= LONG
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)


def read_varint(written: bytes, at: int) -> tuple[int, int]:
    """A number, and where the next thing begins."""
    number = shift = 0
    while True:
        byte = written[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at


def message(*fields: tuple[int, int | bytes]) -> bytes:
    """A message of fields, each of which is a number, or bytes such as another message."""
    written = b""
    for field, content in fields:
        if isinstance(content, int):
            written += varint(field << 3 | NUMBER) + varint(content)
        else:
            written += varint(field << 3 | BYTES) + varint(len(content)) + content
    return written


def fields_of(written: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a message, each with a number, which is signed as Java's long is, or with bytes."""
    at = 0
    while at < len(written):
        key, at = read_varint(written, at)
        number, at = read_varint(written, at)
        if key & 7 == BYTES:
            yield key >> 3, written[at : at + number]
            at += number
        else:
            yield key >> 3, number - LONG if number >= LONG // 2 else number


def written_metadata(segments: Sequence[SegmentMetadata]) -> bytes:
    """The metadata of a snapshot."""
    return b"".join(message((LIST, written_segment_metadata(*each))) for each in segments)


def written_segment_metadata(first: int, last: int, bitmaps: Any) -> bytes:
    """The metadata of one segment."""
    entries = [(BIT_MAP, message((LEDGER, ledger), (BITS, bits))) for ledger, bits in bitmaps.items()]
    return message(*entries, (MAX_SCHEDULE_TIMESTAMP, last), (MIN_SCHEDULE_TIMESTAMP, first))


def read_metadata(written: bytes) -> list[SegmentMetadata]:
    """The metadata of each segment of a snapshot."""
    return [read_segment_metadata(content) for _, content in fields_of(written)]


def read_segment_metadata(written: bytes) -> SegmentMetadata:
    """The metadata of one segment."""
    fields = [*fields_of(written)]
    times = dict(fields)
    entries = [dict(fields_of(content)) for field, content in fields if field == BIT_MAP]
    bitmaps = {entry[LEDGER]: entry[BITS] for entry in entries}
    return SegmentMetadata(times[MIN_SCHEDULE_TIMESTAMP], times[MAX_SCHEDULE_TIMESTAMP], bitmaps)


def written_segment(indexes: Sequence[DelayedIndex]) -> bytes:
    """A segment."""
    rows = (message((TIMESTAMP, at), (LEDGER_ID, ledger), (ENTRY_ID, entry)) for at, ledger, entry in indexes)
    return b"".join(message((LIST, row)) for row in rows)


def read_segment(written: bytes) -> list[DelayedIndex]:
    """The delayed indexes of a segment."""
    rows = (dict(fields_of(content)) for _, content in fields_of(written))
    return [(row[TIMESTAMP], row[LEDGER_ID], row[ENTRY_ID]) for row in rows]
