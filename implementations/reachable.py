"""Whether what is at a path can be looked at."""

from __future__ import annotations

import os
from errno import ENAMETOOLONG
from pathlib import Path


def barred(path: str | Path) -> str:
    """Why what may be at a path cannot be looked at: no permission, say. Empty: it can, or there is nothing."""
    try:
        os.stat(path)  # noqa: PTH116 # Path.exists keeps the reason to itself
    except (FileNotFoundError, ValueError):  # ValueError: no name that a file could have
        return ""
    except OSError as error:
        return "" if error.errno == ENAMETOOLONG else f"cannot be read: {error.strerror}"
    return ""
