"""A subject that notes when the first walk of a campaign begins, for the benchmark ``campaign``."""

from __future__ import annotations

import os
from pathlib import Path

from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker

FIRST = "BROKER_TCK_BENCH_FIRST"
"""The environment variable that names the file to create."""


class First(TimeBucketTracker):
    """Conforms to the profile ``timebucket-ideal``; creates a file when a message is added."""

    def add_message(self, *arguments: int) -> bool:
        """Add a message."""
        path = Path(os.environ[FIRST])
        if not path.exists():
            path.touch()
        return super().add_message(*arguments)
