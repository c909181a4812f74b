"""Mutants of the bucket tracker: what no clause of the model can be, or has a condition that none of them has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from broker_tck.implementations.bucket_delivery.tracker import BucketTracker
from broker_tck.implementations.interface import BucketSnapshotStorage, DelayedIndex, Done, Position, SegmentMetadata
from broker_tck.properties.mistakes.implementations.mutant import mutant

MAX_INT = 2**31 - 1


@mutant("BD-19", shows="A budget that a single value switches off.")
class BucketNoBudgetIsNoLimit(BucketTracker):
    """A get of 0 hands out everything that is due."""

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        """Hand out what is due."""
        return super().get_scheduled_messages(max_messages or MAX_INT)


@mutant("BD-19", shows="A memory of refused messages that an unrelated operation wipes.")
class SealForgetsWhatWasRefused(BucketTracker):
    """What was refused while an index of it is in memory is known as such until the next seal, and no longer."""

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        """Track a message."""
        before = len([*self._memory.placed])
        taken = super().add_message(ledger_id, entry_id, deliver_at)
        if len([*self._memory.placed]) > before:
            self._held.suspects.clear()
        return taken


class OneBuffer:
    """A storage that is handed all snapshots in the same two lists."""

    def __init__(self, storage: BucketSnapshotStorage) -> None:
        self._storage = storage
        self._metadata: list[SegmentMetadata] = []
        self._segments: list[Sequence[DelayedIndex]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._storage, name)

    def create_bucket_snapshot(
        self,
        metadata: Sequence[SegmentMetadata],
        segments: Sequence[Sequence[DelayedIndex]],
        bucket_key: str,
        done: Done[int],
    ) -> None:
        """Fill the lists, and hand them over."""
        self._metadata[:], self._segments[:] = metadata, segments
        self._storage.create_bucket_snapshot(self._metadata, self._segments, bucket_key, done)


@mutant("BD-13", shows="What is handed over and changed before it was answered for.")
class BuffersAreFilledAgain(BucketTracker):
    """The lists in which a snapshot was handed to the storage have the next one's segments before it is stored."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._calls.storage = OneBuffer(self._calls.storage)


@mutant("BD-32", source="apache/pulsar PR 26053", shows="A callback that is never called, and nothing else.")
class CloseThatWaitsNeverEnds(BucketTracker):
    """A close that has to wait for a snapshot never tells that it has ended."""

    def close(self, done: Done[None]) -> None:
        """End."""
        told: list[object] = []
        super().close(told.append)
        if told:
            done(None)


@mutant("BD-32", shows="A callback that is called twice.")
class CloseEndsTwice(BucketTracker):
    """A close tells twice that it has ended."""

    def close(self, done: Done[None]) -> None:
        """End."""

        def twice(_told: object) -> None:
            done(None)
            done(None)

        super().close(twice)
