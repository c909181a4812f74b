"""The process that runs shards for an executor: small, with one thread, so that it can fork for its subjects.

It takes requests on its standard input, a line of JSON each, and answers each with its rows, a line of JSON as well. It
ends with its input. What subjects print goes to standard error, which is the log of an executor of Spark.
"""

from __future__ import annotations

import gc
import os
import socket
import sys
import traceback
from contextlib import suppress
from functools import lru_cache
from typing import BinaryIO

import msgspec

from broker_tck.properties.errors import BadInput, Failed
from broker_tck.properties.search.isolation.guard import Orphaned
from broker_tck.spark_fuzz.driver.manifest import Code, Manifest, code_here
from broker_tck.spark_fuzz.store.rows import REFUSED, UNFINISHED, UNFIT, Row, trouble
from broker_tck.spark_fuzz.worker.shard import shard_rows


class Request(msgspec.Struct):
    """A shard to run."""

    manifest: Manifest
    round: int
    shard: int


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
        answer = rows(request)
    except Orphaned:
        raise
    except Exception as error:
        traceback.print_exc()
        answer = [trouble(UNFINISHED, f"the kit failed: {type(error).__name__}: {error}", request.shard)]
    answers.write(msgspec.json.encode(answer) + b"\n")
    answers.flush()


def rows(request: Request) -> list[Row]:
    """The rows of a shard, or the one that says why this process must not, or cannot, run it."""
    manifest, number, shard = request.manifest, request.round, request.shard
    if why := refusal(msgspec.json.encode(manifest.code), tuple(manifest.subjects)):
        return [trouble(REFUSED, f"the executor on {socket.gethostname()} has {why}", shard)]
    try:
        return [*shard_rows(manifest, number, shard, sys.stdin)]
    except BadInput as error:
        return [trouble(UNFIT, str(error), shard)]
    except Failed as error:
        return [trouble(UNFINISHED, str(error), shard)]


@lru_cache(maxsize=8)  # the code of a process does not change
def refusal(code: bytes, subjects: tuple[str, ...]) -> str:
    """How the code here differs from a campaign's, which is given as JSON; empty if it does not."""
    wanted = msgspec.json.decode(code, type=Code)
    try:
        return wanted.differs(code_here(list(subjects), wanted.kit))
    except BadInput as error:
        return f"no such subject: {error}"


if __name__ == "__main__":
    main()
