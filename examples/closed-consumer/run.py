"""Close consumers of a released Apache Pulsar while threads acknowledge: are timers left?

The broker, one bookie and ZooKeeper run in one Java process, on 127.0.0.1 and free ports. Maven fetches the
jars of the release, once. Exit status: 0, no timer is left; 1, timers are left; 2, something is missing;
3, the run did not come to its end.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))
from whole_broker.run import Example  # noqa: E402  # its folder is on the path only now

EXAMPLE = Example(__doc__, HERE, "ClosedConsumer", "--closes", "N", 40, "consumers that each client closes")

if __name__ == "__main__":
    sys.exit(EXAMPLE.run())
