"""What is asserted and how it is driven.

``conformance(contract, factory)`` is a whole test module for an implementation of one's own.
"""

from __future__ import annotations

from typing import Any

__all__ = ["conformance"]


def __getattr__(name: str) -> Any:
    """Import :func:`conformance` when it is asked for, so that the pytest plugin stays light."""
    if name == "conformance":
        from broker_tck.properties.conformance import conformance

        return conformance
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
