"""A technology compatibility kit for the parts of a message broker that decide when a message comes back.

``check`` checks a subject, and answers with a ``Result``; it raises ``BadInput`` where what it is given cannot be used.
``__version__`` is the version of the kit, ``RULEBOOK`` that of the rules: a digest of all of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from broker_tck.properties.errors import BadInput
    from broker_tck.properties.report.calling import check
    from broker_tck.properties.report.finding import FindingResult as Finding
    from broker_tck.properties.report.result import CheckResult as Result
    from broker_tck.properties.report.result import ProfileResult

__all__ = ["RULEBOOK", "BadInput", "Finding", "ProfileResult", "Result", "__version__", "check"]

__version__: str
RULEBOOK: str

PLACES = {
    "check": ("report.calling", "check"),
    "Finding": ("report.finding", "FindingResult"),
    "ProfileResult": ("report.result", "ProfileResult"),
    "Result": ("report.result", "CheckResult"),
    "BadInput": ("errors", "BadInput"),
}
"""Where in ``broker_tck.properties`` a name is, which is imported only when it is asked for."""


def __getattr__(name: str) -> Any:
    """A name of the package, looked up where it is asked for: to import the package alone takes no time."""
    if name == "__version__":
        return version()
    if name == "RULEBOOK":
        return import_module("broker_tck.properties.rulebook").rulebook()
    if name in PLACES:
        module, inside = PLACES[name]
        return getattr(import_module(f"broker_tck.properties.{module}"), inside)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def version() -> str:
    """The version of the kit that is installed; ``none`` where none is."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("broker-tck")
    except PackageNotFoundError:
        return "none"
