"""Files that are there as a whole or not at all, whenever the process or the machine stops."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

TEMPORARY = ".tmp"
"""The suffix of a file that is not whole yet."""


def put_whole(path: Path, parts: Iterable[bytes]) -> None:
    """Put a file in place, or replace it, given its parts in order.

    ``OSError`` if that failed, or may not survive; the file is then the old one or the new one.
    """
    temporary = path.with_name(path.name + TEMPORARY)
    try:
        _write(temporary, parts)
        os.replace(temporary, path)  # noqa: PTH105  # beside the other calls that a crash may come between
    except OSError:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    settle(path.parent)


def _write(path: Path, parts: Iterable[bytes]) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o644)
    try:
        for part in parts:
            rest = memoryview(part)
            while rest:
                rest = rest[os.write(file, rest) :]
        os.fsync(file)
    finally:
        os.close(file)


def remove(path: Path) -> None:
    """Remove a file, which may be gone already. ``OSError`` if that failed, or may not survive."""
    with suppress(FileNotFoundError):
        os.unlink(path)  # noqa: PTH108  # a crash may come between this one, too
    settle(path.parent)


def settle(folder: Path) -> None:
    """Have the names in a folder survive."""
    if os.name == "nt":  # pragma: no cover  # folders cannot be opened there
        return
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def make_folder(folder: Path) -> None:
    """Make a folder that survives, and those above it, unless they are there."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        settle(path.parent)


def sweep(folder: Path) -> None:
    """Remove the files that were not whole when a process ended."""
    for path in folder.glob("*" + TEMPORARY):
        path.unlink(missing_ok=True)
