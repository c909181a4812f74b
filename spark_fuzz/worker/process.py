"""The process that runs shards for an executor: small, with one thread, so that it can fork for its subjects.

It takes requests on its standard input, a line of JSON each, and answers with rows, a line each, then an empty array.
It ends with its input. What subjects print goes to standard error, which is the log of an executor of Spark.
"""

from __future__ import annotations

import gc
import os
import socket
import sys
import traceback
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from typing import BinaryIO

import msgspec

from broker_tck.properties.errors import BadInput
from broker_tck.properties.isolation.guard import Orphaned
from broker_tck.spark_fuzz.driver.manifest import Code, Manifest, code_here
from broker_tck.spark_fuzz.store.rows import REFUSED, UNFIT, Row, trouble
from broker_tck.spark_fuzz.worker.shard import shard_rows

LAST = b"[]\n"
"""The last line of an answer."""


class Request(msgspec.Struct):
    """A shard to run."""

    manifest: Manifest
    round: int
    shard: int


class Failure(msgspec.Struct, tag="failure"):
    """The answer if the kit itself failed."""

    text: str


def main() -> None:
    """Serve until standard input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    held = [answers.fileno()]
    os.register_at_fork(after_in_child=lambda: os.close(held.pop()) if held else None)  # or it would not end with this
    gc.freeze()  # what is here now is shared with every fork
    with suppress(Orphaned, BrokenPipeError):
        for line in sys.stdin.buffer:
            serve(msgspec.json.decode(line, type=Request), answers)


def serve(request: Request, answers: BinaryIO) -> None:
    """Answer one request."""
    try:
        answers.writelines(msgspec.json.encode(row) + b"\n" for row in rows(request))
    except (Orphaned, BrokenPipeError):
        raise
    except Exception as error:
        traceback.print_exc()
        answers.write(msgspec.json.encode(Failure(f"{type(error).__name__}: {error}")) + b"\n")
    answers.write(LAST)
    answers.flush()


def rows(request: Request) -> Iterator[Row]:
    """The rows of a shard, or the one that says why this process must not run it."""
    manifest = request.manifest
    if why := refusal(msgspec.json.encode(manifest.code), tuple(manifest.subjects)):
        yield trouble(REFUSED, f"the executor on {socket.gethostname()} has {why}", request.shard)
    else:
        try:
            yield from shard_rows(manifest, request.round, request.shard, sys.stdin)
        except BadInput as error:
            yield trouble(UNFIT, str(error), request.shard)


@lru_cache(maxsize=8)  # the code of a process does not change
def refusal(code: bytes, subjects: tuple[str, ...]) -> str:
    """What is other here than the code of a campaign, given as JSON; empty: nothing."""
    wanted = msgspec.json.decode(code, type=Code)
    try:
        return wanted.differs(code_here(list(subjects), wanted.kit))
    except BadInput as error:
        return f"no such subject: {error}"


if __name__ == "__main__":
    main()
