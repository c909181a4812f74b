"""The memory bench of negative acks."""

from __future__ import annotations

from collections.abc import Sequence

from broker_tck.bench.drivers import machine_words
from broker_tck.bench.nacks import MemoryRow
from broker_tck.cli.output import print_table


def print_nacks(table: Sequence[MemoryRow]) -> None:
    """Print the memory table of negative acks."""
    head = [
        "row",
        "nacks/s",
        "bits",
        "bytes/entry",
        "pair map",
        "Java",
        "nacks/s taken",
        "redelivered/s",
        "content",
        "",
    ]
    print_table(machine_words(), head, [nack_cells(row) for row in table], right=tuple(range(1, 8)))


def nack_cells(row: MemoryRow) -> tuple[str, ...]:
    """A row of the memory table of negative acks."""
    return (
        row.name,
        f"{row.a_second:,}",
        str(row.bits),
        f"{row.buckets.bytes_an_entry:.2f}",
        f"{row.pair_map.bytes_an_entry:.2f}",
        "-" if row.java_bytes is None else f"{row.java_bytes:g}",
        f"{row.buckets.nacks_per_second:,}",
        f"{row.buckets.redeliveries_per_second:,}",
        "exact" if row.buckets.content_verified and row.pair_map.content_verified else "WRONG",
        "" if row.passed else "OVER",
    )
