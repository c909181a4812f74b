"""Executors run the shards of a round: Spark, or processes of this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from broker_tck.spark_fuzz.driver.manifest import Manifest

if TYPE_CHECKING:
    import pyarrow as pa

SPARK, PROCESSES = "spark", "processes"
"""The ways to run shards."""


class Executor(Protocol):
    """Runs shards."""

    way: str
    """SPARK or PROCESSES."""
    name: str
    """Its description, in a few words."""

    def run(self, manifest: Manifest, number: int, shards: Sequence[int]) -> Iterator[pa.RecordBatch]:
        """Run shards of a round; yields their rows in any order, reduced or not. It is called by several threads.

        A shard that was not walked has one row: kind ``refused`` or ``unfinished``.
        """
