"""Messages through a pipe, whole or not at all: the reader never waits for the rest of one."""

from __future__ import annotations

import os
import pickle
from typing import Any

MARK = b"broker-tck:"
HEADER = len(MARK) + 8


class Messages:
    """The reading end of a pipe."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self.left = bytearray()

    def fileno(self) -> int:
        """The number of the file, to wait for it."""
        return self.descriptor

    def read(self) -> list[Any]:
        """The messages that have come since. EOFError if no other can come, ValueError if something else has come."""
        found: list[Any] = []
        while True:
            try:
                part = os.read(self.descriptor, 2**20)
            except BlockingIOError:
                return found
            if not part:
                if found:
                    return found
                raise EOFError
            self.left += part
            while (size := self.size()) is not None and len(self.left) >= HEADER + size:
                found.append(pickle.loads(self.left[HEADER : HEADER + size]))
                del self.left[: HEADER + size]

    def size(self) -> int | None:
        """How long the next message is; None: its header has not come."""
        if len(self.left) < HEADER:
            return None
        if not self.left.startswith(MARK):
            raise ValueError("this is no message")
        return int.from_bytes(self.left[len(MARK) : HEADER], "big")

    def close(self) -> None:
        """Read nothing more."""
        os.close(self.descriptor)


def write_message(descriptor: int, message: Any) -> None:
    """Write a message, whole, into the other end of the pipe."""
    data = pickle.dumps(message)
    left = memoryview(MARK + len(data).to_bytes(8, "big") + data)
    while left:
        left = left[os.write(descriptor, left) :]
