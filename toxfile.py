"""What tox does besides: in the end it says where the processor's time went. See scripts/costs.py."""

from __future__ import annotations

import atexit
import time
from pathlib import Path

from tox.plugin import impl
from tox.tox_env.api import ToxEnv

from scripts import costs

STARTED = time.monotonic()
LOGS: dict[str, Path] = {}
"""The notes of each environment that has run commands."""


@impl
def tox_before_run_commands(tox_env: ToxEnv) -> None:
    """Forget what the environment cost the last time."""
    if not LOGS:
        atexit.register(lambda: costs.ended(LOGS, time.monotonic() - STARTED))
    LOGS[tox_env.name] = tox_env.env_dir / "costs.log"
    LOGS[tox_env.name].unlink(missing_ok=True)
