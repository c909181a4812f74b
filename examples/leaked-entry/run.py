"""Pause the eviction of a whole broker of a released Apache Pulsar: is the buffer of a cached entry released?

The broker, one bookie and ZooKeeper run in one Java process, on 127.0.0.1 and free ports. Maven fetches the
jars of the release, once. Exit status: 0, all buffers are released; 1, one is left; 2, something is missing;
3, the run did not come to its end.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))
from whole_broker.run import DEBUGGER, Example  # noqa: E402  # its folder is on the path only now

EXAMPLE = Example(
    __doc__,
    HERE,
    "LeakedEntry",
    "--bytes",
    "N",
    100_000,
    "bytes of the message, more than 32,768",
    release="4.0.0",
    options=DEBUGGER,
)

if __name__ == "__main__":
    sys.exit(EXAMPLE.run())
