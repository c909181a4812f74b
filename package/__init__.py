"""A technology compatibility kit for the parts of a message broker that decide when a message comes back."""

from __future__ import annotations

__version__: str


def __getattr__(name: str) -> str:
    """The version of the kit that is installed, looked up where it is asked for; ``none`` where none is."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("broker-tck")
    except PackageNotFoundError:
        return "none"
