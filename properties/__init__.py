"""The checks: what they assert, and what drives them.

``from broker_tck.properties import conformance``: :func:`~broker_tck.properties.report.parts.conformance` makes a whole
test module for an implementation of one's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from broker_tck.properties.report.parts import conformance

__all__ = ["conformance"]


def __getattr__(name: str) -> Any:
    """Import :func:`conformance` only when it is asked for: the pytest plugin is loaded by every run of pytest."""
    if name == "conformance":
        from broker_tck.properties.report.parts import conformance

        return conformance
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
