"""Unload topics of a released Apache Pulsar while delayed messages become due: is a subscription stuck?

The broker, one bookie and ZooKeeper run in one Java process, on 127.0.0.1 and free ports. Maven fetches the
jars of the release, once. Exit status: 0, no subscription is stuck; 1, one is stuck; 2, something is missing;
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
    "ClosedTracker",
    "--wait",
    "S",
    20,
    "seconds to wait for an answer",
    release="4.0.0",
    options=DEBUGGER,
)

if __name__ == "__main__":
    sys.exit(EXAMPLE.run())
