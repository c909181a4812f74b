"""A plug-in of tox: when a run ends, it prints what each environment cost. See scripts/costs.py."""

from __future__ import annotations

import atexit
import time
from pathlib import Path

from tox.plugin import impl
from tox.tox_env.api import ToxEnv

from scripts import costs

STARTED = time.monotonic()
LOGS: dict[str, Path] = {}
"""The file of notes of each environment that has run commands."""


@impl
def tox_before_run_commands(tox_env: ToxEnv) -> None:
    """Delete the environment's notes of the run before; have the costs printed when tox ends."""
    if not LOGS:
        atexit.register(lambda: costs.ended(LOGS, time.monotonic() - STARTED))
    LOGS[tox_env.name] = tox_env.env_dir / "costs.log"
    LOGS[tox_env.name].unlink(missing_ok=True)
