"""The properties of a cursor in a file, which is replaced as a whole at each change."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from zlib import crc32

from broker_tck.implementations.bucket_delivery.files.disk import TEMPORARY, put_whole
from broker_tck.implementations.interface import (
    BadVersionException,
    BucketSnapshotPersistenceException,
    Done,
    InvalidSnapshotException,
    Position,
)

MAGIC = "BKTPROP 1"
"""How the first line begins; a CRC-32 of all that follows that line ends it."""

Version = tuple[int, int, int]


class FileCursorProperties:
    """:class:`~broker_tck.implementations.interface.CursorProperties`; each call ends before it returns.

    What a call has told of survives a crash. A file that somebody else has replaced is read again, and the call told
    that it met a bad version.
    """

    def __init__(self, path: Path) -> None:
        """Open a file, which is made with the first change. ``InvalidSnapshotException`` where it is damaged."""
        self._path = path
        self._version: Version | None = None
        self._properties: dict[str, str] = {}
        self._mark: Position | None = None
        path.with_name(path.name + TEMPORARY).unlink(missing_ok=True)
        self._read()

    # ---- The protocol

    def get_cursor_properties(self) -> Mapping[str, str]:
        """The properties as they are now, by ascending keys."""
        return self._properties

    def put_cursor_property(self, key: str, value: str, done: Done[None]) -> None:
        """Set a property."""
        done(self._change(lambda: self._write(dict(sorted({**self._properties, key: value}.items())), self._mark)))

    def remove_cursor_property(self, key: str, done: Done[None]) -> None:
        """Take a property out, unless it is not there."""
        left = {known: value for known, value in self._properties.items() if known != key}
        done(None if len(left) == len(self._properties) else self._change(lambda: self._write(left, self._mark)))

    def get_mark_deleted_position(self) -> Position | None:
        """The position up to which everything is acknowledged; None: it is not known."""
        return self._mark

    # ---- The cursor's own

    def mark_delete(self, position: Position) -> None:
        """Move the mark-delete position. ``OSError`` where it could not be stored."""
        self._write(self._properties, position)

    # ---- The file

    def _change(self, write: Callable[[], None]) -> Exception | None:
        """Change the file, unless somebody else has."""
        try:
            if self._version != self._version_now():
                self._read()
                return BadVersionException(f"{self._path} was replaced")
            write()
        except OSError as error:
            return BucketSnapshotPersistenceException(str(error))
        except InvalidSnapshotException as error:
            return error
        return None

    def _version_now(self) -> Version | None:
        """What a file that is replaced does not have in common with the one before."""
        try:
            stat = self._path.stat()
        except FileNotFoundError:
            return None
        return stat.st_ino, stat.st_mtime_ns, stat.st_size

    def _write(self, properties: dict[str, str], mark: Position | None) -> None:
        body = json.dumps({"mark": mark, "properties": properties}, indent=1).encode()
        put_whole(self._path, [f"{MAGIC} {crc32(body):08x}\n".encode() + body])
        self._properties, self._mark, self._version = properties, mark, self._version_now()

    def _read(self) -> None:
        self._version = self._version_now()
        if self._version is None:
            self._properties, self._mark = {}, None
            return
        first, _, body = self._path.read_bytes().partition(b"\n")
        if first != f"{MAGIC} {crc32(body):08x}".encode():
            raise InvalidSnapshotException(f"{self._path} is damaged")
        stored = json.loads(body)
        self._properties = stored["properties"]
        self._mark = stored["mark"] and (stored["mark"][0], stored["mark"][1])
