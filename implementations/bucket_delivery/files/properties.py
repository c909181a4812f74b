"""The properties of a cursor in a file, which is replaced as a whole at each change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from zlib import crc32

from broker_tck.implementations.bucket_delivery.files.disk import TEMPORARY, put_whole
from broker_tck.implementations.interface import (
    BucketSnapshotPersistenceException,
    Done,
    InvalidSnapshotException,
    Position,
)

MAGIC = "BKTPROP 1"
"""How the first line begins; a CRC-32 of all that follows that line ends it."""


class FileCursorProperties:
    """:class:`~broker_tck.implementations.interface.CursorProperties`; each call ends before it returns.

    A change survives a crash once its call was answered. One object at a time may write to a file.
    """

    def __init__(self, path: Path) -> None:
        """Open a file, which is made with the first change. ``InvalidSnapshotException`` where it is damaged."""
        self._path = path
        self._properties: dict[str, str] = {}
        self._mark: Position | None = None
        path.with_name(path.name + TEMPORARY).unlink(missing_ok=True)
        self._read()

    def get_cursor_properties(self) -> Mapping[str, str]:
        """The properties as they are now, by ascending keys."""
        return self._properties

    def put_cursor_property(self, key: str, value: str, done: Done[None]) -> None:
        """Set a property."""
        done(self._change(dict(sorted({**self._properties, key: value}.items()))))

    def remove_cursor_property(self, key: str, done: Done[None]) -> None:
        """Take a property out, unless it is not there."""
        left = {known: value for known, value in self._properties.items() if known != key}
        done(None if len(left) == len(self._properties) else self._change(left))

    def get_mark_deleted_position(self) -> Position | None:
        """The position up to which everything is acknowledged; None: it is not known."""
        return self._mark

    def mark_delete(self, position: Position) -> None:
        """Move the mark-delete position. ``OSError`` where it could not be stored."""
        self._write(self._properties, position)

    # ---- The file

    def _change(self, properties: dict[str, str]) -> Exception | None:
        """Write other properties. If that fails, the file is read again, because it may be replaced or not."""
        try:
            self._write(properties, self._mark)
        except OSError as error:
            self._read()
            return BucketSnapshotPersistenceException(str(error))
        return None

    def _write(self, properties: dict[str, str], mark: Position | None) -> None:
        body = json.dumps({"mark": mark, "properties": properties}, indent=1).encode()
        put_whole(self._path, [f"{MAGIC} {crc32(body):08x}\n".encode() + body])
        self._properties, self._mark = properties, mark

    def _read(self) -> None:
        self._properties, self._mark = {}, None
        if self._path.exists():
            first, _, body = self._path.read_bytes().partition(b"\n")
            if first != f"{MAGIC} {crc32(body):08x}".encode():
                raise InvalidSnapshotException(f"{self._path} is damaged")
            stored = json.loads(body)
            self._properties = stored["properties"]
            self._mark = stored["mark"] and (stored["mark"][0], stored["mark"][1])
