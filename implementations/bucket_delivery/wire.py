"""A bucket's snapshot as Pulsar writes it, in the wire format of protocol buffers: every release does it alike.

What is under test makes and reads its own messages; here are the bytes in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from broker_tck.implementations.interface import DelayedIndex, SegmentMetadata

METADATA_LIST = 1
"""Of a snapshot's metadata: that of each segment."""
BIT_MAP, MAX_SCHEDULE_TIMESTAMP, MIN_SCHEDULE_TIMESTAMP = 1, 2, 3
"""Of a segment's metadata."""
LEDGER, BITS = 1, 2
"""Of an entry of the map from ledgers to bitmaps."""
INDEXES = 1
"""Of a segment."""
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


def number_field(field: int, number: int) -> bytes:
    """A field that is a number."""
    return varint(field << 3 | NUMBER) + varint(number)


def bytes_field(field: int, content: bytes) -> bytes:
    """A field that is a message, or bytes."""
    return varint(field << 3 | BYTES) + varint(len(content)) + content


def read_varint(written: bytes, at: int) -> tuple[int, int]:
    """A number, and where the next thing begins."""
    number = shift = 0
    while True:
        byte = written[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at


def signed(number: int) -> int:
    """A number as Java's long."""
    return number - LONG if number >= LONG // 2 else number


def numbers_and_bytes(written: bytes) -> Iterator[tuple[int, int, bytes]]:
    """The fields of a message, with a number or with bytes each."""
    at = 0
    while at < len(written):
        key, at = read_varint(written, at)
        number, at = read_varint(written, at)
        if key & 7 == BYTES:
            yield key >> 3, 0, written[at : at + number]
            at += number
        else:
            yield key >> 3, signed(number), b""


def written_metadata(segments: Sequence[SegmentMetadata]) -> bytes:
    """The metadata of a snapshot."""
    return b"".join(bytes_field(METADATA_LIST, written_segment_metadata(each)) for each in segments)


def written_segment_metadata(segment: SegmentMetadata) -> bytes:
    """The metadata of one segment."""
    entries = (
        bytes_field(BIT_MAP, number_field(LEDGER, ledger) + bytes_field(BITS, bits))
        for ledger, bits in segment.delayed_index_bit_map.items()
    )
    first, last = segment.min_schedule_timestamp, segment.max_schedule_timestamp
    return b"".join(entries) + number_field(MAX_SCHEDULE_TIMESTAMP, last) + number_field(MIN_SCHEDULE_TIMESTAMP, first)


def read_metadata(written: bytes) -> list[SegmentMetadata]:
    """The metadata of each segment of a snapshot."""
    return [read_segment_metadata(content) for _, _, content in numbers_and_bytes(written)]


def read_segment_metadata(written: bytes) -> SegmentMetadata:
    """The metadata of one segment."""
    times = {MIN_SCHEDULE_TIMESTAMP: 0, MAX_SCHEDULE_TIMESTAMP: 0}
    bitmaps: dict[int, bytes] = {}
    for field, number, content in numbers_and_bytes(written):
        if field == BIT_MAP:
            entry = {key: (ledger, bits) for key, ledger, bits in numbers_and_bytes(content)}
            bitmaps[entry[LEDGER][0]] = entry[BITS][1]
        else:
            times[field] = number
    return SegmentMetadata(times[MIN_SCHEDULE_TIMESTAMP], times[MAX_SCHEDULE_TIMESTAMP], bitmaps)


def written_segment(indexes: Sequence[DelayedIndex]) -> bytes:
    """A segment."""
    return b"".join(
        bytes_field(
            INDEXES,
            number_field(TIMESTAMP, at) + number_field(LEDGER_ID, ledger) + number_field(ENTRY_ID, entry),
        )
        for at, ledger, entry in indexes
    )


def read_segment(written: bytes) -> list[DelayedIndex]:
    """The delayed indexes of a segment."""
    indexes = []
    for _, _, content in numbers_and_bytes(written):
        parts = {field: number for field, number, _ in numbers_and_bytes(content)}
        indexes.append((parts[TIMESTAMP], parts[LEDGER_ID], parts[ENTRY_ID]))
    return indexes
