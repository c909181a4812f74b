"""The rig of bucket delivery over real files: a call that ends has done what it does to a folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from broker_tck.implementations.bucket_delivery.files import FileCursorProperties, FileSnapshotStorage
from broker_tck.implementations.bucket_delivery.tracker import BucketTracker
from broker_tck.implementations.interface import DelayedIndex, Done, Position, SegmentMetadata
from broker_tck.properties.contracts.bucket_delivery.operations import Capabilities, Config
from broker_tck.properties.contracts.bucket_delivery.rig import Rig, permuted
from broker_tck.properties.contracts.bucket_delivery.storage import Door, Durable, positions_of, range_of


class FileDurable(Durable):
    """A folder, and calls under way."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.opened()

    def opened(self) -> None:
        """Open the folder, as another process would."""
        self.storage = FileSnapshotStorage(self.folder)
        self.cursor = FileCursorProperties(self.folder / "properties")

    def keys(self) -> dict[str, str]:
        """The properties of buckets, by range."""
        known = self.cursor.get_cursor_properties()
        return {"{}-{}".format(*range_of(key)): value for key, value in known.items()}

    def flip(self, number: int) -> None:
        """Flip the last byte of a snapshot, or flip it back."""
        path = self.folder / f"{number}.snapshot"
        if path.exists():
            data = bytearray(path.read_bytes())
            data[-1] ^= 255
            path.write_bytes(data)

    def shown(self, number: int) -> list[Any] | None:
        """What is stored under a number, in plain lists."""
        if number not in self.storage.numbers():
            return None
        if number in self.spoiled:
            self.flip(number)
        metadata = ended(lambda done: self.storage.get_bucket_snapshot_metadata(number, done))
        segments = ended(lambda done: self.storage.get_bucket_snapshot_segment(number, 1, len(metadata), done))
        if number in self.spoiled:
            self.flip(number)
        return [
            [m.min_schedule_timestamp, m.max_schedule_timestamp, positions_of(m.delayed_index_bit_map), [*segment]]
            for m, segment in zip(metadata, segments, strict=True)
        ]


class FileDoor(Door):
    """What one tracker is given: calls that wait, and then work on files."""

    durable: FileDurable

    def create_bucket_snapshot(
        self,
        metadata: Sequence[SegmentMetadata],
        segments: Sequence[Sequence[DelayedIndex]],
        bucket_key: str,
        done: Done[int],
    ) -> None:
        """Write a file."""

        def create() -> Any:
            number = ended(
                lambda done: self.durable.storage.create_bucket_snapshot(metadata, segments, bucket_key, done)
            )
            if number in self.durable.spoiled:
                self.durable.flip(number)
            return number

        self.call("create:{}-{}:{}".format(*range_of(bucket_key), len(segments)), create, done)

    def get_bucket_snapshot_metadata(self, bucket_id: int, done: Done[Sequence[SegmentMetadata]]) -> None:
        """Read the first part of a file."""
        self.call(
            f"load:{bucket_id}",
            lambda: ended(lambda done: self.durable.storage.get_bucket_snapshot_metadata(bucket_id, done)),
            done,
        )

    def get_bucket_snapshot_segment(
        self, bucket_id: int, first: int, last: int, done: Done[Sequence[Sequence[DelayedIndex]]]
    ) -> None:
        """Read other parts of a file."""
        self.call(
            f"load:{bucket_id}:{first}-{last}",
            lambda: ended(lambda done: self.durable.storage.get_bucket_snapshot_segment(bucket_id, first, last, done)),
            done,
        )

    def delete_bucket_snapshot(self, bucket_id: int, done: Done[None]) -> None:
        """Delete a file."""
        self.call(
            f"delete:{bucket_id}",
            lambda: ended(lambda done: self.durable.storage.delete_bucket_snapshot(bucket_id, done)),
            done,
        )

    def get_cursor_properties(self) -> dict[str, str]:
        """The properties, in the order of this recovery."""
        known = dict(self.durable.cursor.get_cursor_properties())
        return {key: known[key] for key in self.order if key in known} | known

    def put_cursor_property(self, key: str, value: str, done: Done[None]) -> None:
        """Replace the file."""
        label = "put:{}-{}={}".format(*range_of(key), value)
        self.call(label, lambda: ended(lambda done: self.durable.cursor.put_cursor_property(key, value, done)), done)

    def remove_cursor_property(self, key: str, done: Done[None]) -> None:
        """Replace the file."""
        label = "remove:{}-{}".format(*range_of(key))
        self.call(label, lambda: ended(lambda done: self.durable.cursor.remove_cursor_property(key, done)), done)

    def get_mark_deleted_position(self) -> Position | None:
        """Where the cursor stands."""
        return self.durable.cursor.get_mark_deleted_position()


def ended(call: Callable[[Done[Any]], None]) -> Any:
    """What a call has come to, which it has before it returns."""
    results: list[Any] = []
    call(results.append)
    (result,) = results
    return result


class FileRig(Rig):
    """The subject over files. A crash opens them again."""

    durable: FileDurable

    def __init__(self, folder: Path, config: Config, capabilities: Capabilities) -> None:
        self.folder = folder
        super().__init__(BucketTracker, config, capabilities)

    def recover(self, failing: int, order: int) -> None:
        """Have another tracker made, on the files as they are."""
        if isinstance(self.durable, FileDurable):
            self.durable.opened()
        else:
            self.durable = FileDurable(self.folder)
        self.tracker = None
        self.last_cancelled = None
        properties = self.durable.cursor.get_cursor_properties()
        keys = sorted(properties, key=range_of, reverse=self.config.key_order == "down")
        self.door = FileDoor(self.durable, permuted(keys, order), failing)
        self.tracker = BucketTracker(self.config, lambda: self.now, self, self.door, self.door)
        self.door.recovering = False

    def mark(self, ledger: int, entry: int) -> None:
        """The cursor's mark-delete position moves."""
        self.durable.cursor.mark_delete((ledger, entry))

    def vanish(self, number: int) -> None:
        """A snapshot is gone."""
        ended(lambda done: self.durable.storage.delete_bucket_snapshot(number, done))

    def spoil(self, number: int) -> None:
        """A snapshot can no longer be read."""
        if number not in self.durable.spoiled:
            self.durable.flip(number)
            self.durable.spoiled.add(number)

    def lost(self) -> None:
        """The cursor's properties are gone."""
        for key in [*self.durable.cursor.get_cursor_properties()]:
            ended(lambda done, key=key: self.durable.cursor.remove_cursor_property(key, done))

    def snapshots(self) -> list[int]:
        """The numbers of the snapshots that are stored."""
        return self.durable.storage.numbers()
