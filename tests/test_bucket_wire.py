"""A bucket's snapshot in the wire format: what is written is read again, and the bytes are those of Pulsar."""

from __future__ import annotations

import pytest

from broker_tck.implementations.bucket_delivery.wire import (
    read_metadata,
    read_segment,
    written_metadata,
    written_segment,
)
from broker_tck.implementations.interface import SegmentMetadata


@pytest.mark.parametrize("number", [0, 1, 127, 128, 2**32 - 1, 2**62, -1, -(2**63)])
def test_indexes_are_read_as_they_were_written(number: int) -> None:
    indexes = [(number, 2**62, 2**32 - 1), (number, number, 0)]
    assert read_segment(written_segment(indexes)) == indexes


def test_metadata_is_read_as_it_was_written() -> None:
    segments = [SegmentMetadata(10, 300, {1: b"\x01\x02", 2**62: b""}), SegmentMetadata(-1, 2**53, {})]
    assert read_metadata(written_metadata(segments)) == segments


def test_bytes_are_those_of_the_message() -> None:
    assert written_segment([(300, 1, 0)]) == bytes([0x0A, 7, 0x08, 0xAC, 0x02, 0x10, 1, 0x18, 0])
    about = written_metadata([SegmentMetadata(1, 2, {5: b"x"})])
    assert about == bytes([0x0A, 11, 0x0A, 5, 0x08, 5, 0x12, 1, ord("x"), 0x10, 2, 0x18, 1])
