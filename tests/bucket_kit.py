"""What the tests of the bucket tracker share: a storage that ends each call at once, a clock, and a tracker on both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from broker_tck.implementations.bucket_delivery.tracker import BucketTracker
from broker_tck.implementations.interface import (
    BucketNotExistException,
    BucketSnapshotPersistenceException,
    DelayedIndex,
    Done,
    Position,
    SegmentMetadata,
)
from broker_tck.properties.engine.timer import DispatcherTimer

START = 1_000_000


@dataclass
class Config:
    min_index_count: int = 2
    time_step: int = 10
    max_indexes: int = -1
    max_buckets: int = -1
    tick: int = 1
    strict: bool = True


class Shelf:
    """Storage and cursor. ``failing`` has the names of calls that fail, ``errors`` other errors of some calls."""

    def __init__(self) -> None:
        self.snapshots: dict[int, tuple[Any, Any]] = {}
        self.properties: dict[str, str] = {}
        self.made = 0
        self.mark: Position | None = None
        self.failing: set[str] = set()
        self.errors: dict[str, Exception] = {}
        self.waits = False
        self.waiting: list[Any] = []
        self.asked: list[str] = []

    def end(self, name: str, done: Done[Any], effect: Any) -> None:
        self.asked.append(name)
        if self.waits:
            self.waiting.append((name, done, effect))
        elif name in self.errors:
            done(self.errors[name])
        elif name in self.failing:
            done(BucketSnapshotPersistenceException(name))
        else:
            done(effect())

    def end_waiting(self) -> None:
        while self.waiting:
            _, done, effect = self.waiting.pop(0)
            done(effect())

    def create_bucket_snapshot(
        self,
        metadata: Sequence[SegmentMetadata],
        segments: Sequence[Sequence[DelayedIndex]],
        bucket_key: str,
        done: Done[int],
    ) -> None:
        def create() -> int:
            self.made += 1
            self.snapshots[self.made] = [*metadata], [*segments]
            return self.made

        self.end("create", done, create)

    def get_bucket_snapshot_metadata(self, bucket_id: int, done: Done[Sequence[SegmentMetadata]]) -> None:
        self.end("describe", done, lambda: self.part(bucket_id, 0, slice(None)))

    def get_bucket_snapshot_segment(
        self, bucket_id: int, first: int, last: int, done: Done[Sequence[Sequence[DelayedIndex]]]
    ) -> None:
        self.end("load", done, lambda: self.part(bucket_id, 1, slice(first - 1, last)))

    def part(self, number: int, part: int, which: slice) -> Any:
        if number not in self.snapshots:
            return BucketNotExistException(number)
        return self.snapshots[number][part][which]

    def delete_bucket_snapshot(self, bucket_id: int, done: Done[None]) -> None:
        self.end("delete", done, lambda: self.snapshots.pop(bucket_id, None) and None)

    def get_cursor_properties(self) -> Mapping[str, str]:
        return self.properties

    def put_cursor_property(self, key: str, value: str, done: Done[None]) -> None:
        self.end("put", done, lambda: self.properties.update({key: value}))

    def remove_cursor_property(self, key: str, done: Done[None]) -> None:
        self.end("remove", done, lambda: self.properties.pop(key, None) and None)

    def get_mark_deleted_position(self) -> Position | None:
        return self.mark


class Broker(DispatcherTimer):
    """A tracker with its clock and timer, on a shelf or on what else is given."""

    def __init__(self, config: Config | None = None, storage: Any = None, cursor: Any = None) -> None:
        super().__init__(START)
        self.config = config or Config()
        self.storage: Any = storage or Shelf()
        self.cursor = cursor or self.storage
        self.recover()

    def recover(self, factory: Callable[..., Any] = BucketTracker) -> None:
        """Have another tracker made."""
        self.live = []
        self.tracker = factory(self.config, lambda: self.now, self, self.storage, self.cursor)

    def add(self, ledger: int, entry: int, delay: int) -> bool:
        """Add a message that is due so many milliseconds after the start."""
        return self.tracker.add_message(ledger, entry, START + delay)

    def get(self, most: int = 10**9) -> list[Position]:
        """Take what is due."""
        return self.tracker.get_scheduled_messages(most)

    def drained(self) -> list[Position]:
        """Take out everything, past all times."""
        self.advance(10**12)
        taken: list[Position] = []
        while got := self.get():
            taken += got
        return taken
