"""Set a clock back in a whole broker of a released Apache Pulsar: is a delayed message late?

The broker, one bookie and ZooKeeper run in one Java process, on 127.0.0.1 and free ports. Maven fetches the
jars of the release, once. Exit status: 0, the message came in time; 1, it was late; 2, something is missing;
3, the run did not come to its end.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))
from whole_broker.run import Example  # noqa: E402  # its folder is on the path only now

EXAMPLE = Example(__doc__, HERE, "SetClock", "--wait", "S", 60, "seconds to wait for a message")

if __name__ == "__main__":
    sys.exit(EXAMPLE.run())
