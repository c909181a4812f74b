"""Take the finding R-01 to a whole broker of a released Apache Pulsar: does a slow subscription lose messages?

The broker, one bookie and ZooKeeper run in one Java process, on 127.0.0.1 and free ports. Maven fetches the
jars of the release, once. Exit status: 0, no message was lost; 1, messages were lost; 2, something is missing;
3, the run did not come to its end.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))
from whole_broker.run import Example  # noqa: E402  # its folder is on the path only now

EXAMPLE = Example(__doc__, HERE, "SlowSubscription", "--entries", "N", 1, "entries to a ledger")

if __name__ == "__main__":
    sys.exit(EXAMPLE.run())
