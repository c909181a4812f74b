"""The adapter of bucket delivery over real files: a call that ends has done what it does to a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from broker_tck.implementations.bucket_delivery.files import FileCursorProperties, FileSnapshotStorage
from broker_tck.implementations.bucket_delivery.tracker import BucketTracker
from broker_tck.implementations.interface import Done
from broker_tck.properties.contracts.bucket_delivery.adapter import Adapter
from broker_tck.properties.contracts.bucket_delivery.operations import AT_ONCE, Capabilities, Config
from broker_tck.properties.contracts.bucket_delivery.storage import Durable, Stored, range_text, shown


def ended(call: Callable[[Done[Any]], None]) -> Any:
    """What a call has come to, which it has before it returns."""
    results: list[Any] = []
    call(results.append)
    (result,) = results
    return result


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
        self.properties = dict(self.cursor.get_cursor_properties())
        self.mark = self.cursor.get_mark_deleted_position()

    def numbers(self) -> list[int]:
        return self.storage.numbers()

    def create(self, stored: Stored, key: str) -> Any:
        number = ended(lambda done: self.storage.create_bucket_snapshot(*stored, key, done))
        if number in self.spoiled:
            self.flip(number)
        return number

    def metadata(self, number: int) -> Any:
        return ended(lambda done: self.storage.get_bucket_snapshot_metadata(number, done))

    def segments(self, number: int, first: int, last: int) -> Any:
        return ended(lambda done: self.storage.get_bucket_snapshot_segment(number, first, last, done))

    def delete(self, number: int) -> Any:
        return ended(lambda done: self.storage.delete_bucket_snapshot(number, done))

    def spoil(self, number: int) -> None:
        if number not in self.spoiled:
            self.flip(number)
        self.spoiled.add(number)

    def flip(self, number: int) -> None:
        """Flip the last byte of a snapshot, or flip it back."""
        path = self.folder / f"{number}.snapshot"
        if path.exists():
            data = path.read_bytes()
            path.write_bytes(data[:-1] + bytes([data[-1] ^ 255]))

    def shown(self, number: int) -> list[Any] | None:
        if number not in self.numbers():
            return None
        if number in self.spoiled:
            self.flip(number)
        metadata = self.metadata(number)
        segments = self.segments(number, 1, len(metadata))
        if number in self.spoiled:
            self.flip(number)
        return shown(metadata, segments)

    def keys(self) -> dict[str, str]:
        return {range_text(key): value for key, value in self.properties.items()}

    def put(self, key: str, value: str) -> Any:
        return self.changed(lambda done: self.cursor.put_cursor_property(key, value, done))

    def remove(self, key: str) -> Any:
        return self.changed(lambda done: self.cursor.remove_cursor_property(key, done))

    def changed(self, call: Callable[[Done[Any]], None]) -> Any:
        """What a call to the cursor has come to; its properties are others from then on."""
        result = ended(call)
        self.properties = dict(self.cursor.get_cursor_properties())
        return result

    def lose(self) -> None:
        for key in [*self.properties]:
            self.remove(key)


class FileAdapter(Adapter):
    """The bundled subject over files. A crash opens them again."""

    durable: FileDurable

    def __init__(self, folder: Path, config: Config, capabilities: Capabilities) -> None:
        super().__init__(BucketTracker, config, capabilities, FileDurable(folder))

    def recover(self, failing: int, order: int) -> None:
        """Have another tracker made, on the files as they are."""
        self.durable.opened()
        super().recover(failing, order)

    def mark(self, ledger: int, entry: int) -> None:
        """The cursor's mark-delete position moves."""
        self.durable.cursor.mark_delete((ledger, entry))
        super().mark(ledger, entry)


START = Config().clock


def broker(folder: Path | None = None, **config: int) -> Any:
    """An adapter of the bundled subject, whose calls end as they are made; in a folder, if there is one."""
    configured, able = Config(**config), Capabilities()
    adapter = FileAdapter(folder, configured, able) if folder else Adapter(BucketTracker, configured, able)
    adapter.storage(AT_ONCE)
    return adapter


def drained(adapter: Adapter) -> list[tuple[int, int]]:
    """Everything that comes out, past all times."""
    adapter.advance(10**12)
    taken: list[tuple[int, int]] = []
    while got := adapter.get(10**9):
        taken += map(tuple, got)
    return taken
