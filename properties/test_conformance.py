"""The tests that ``pytest --pyargs broker_tck.properties --subject package.module:Factory`` runs."""

from __future__ import annotations

from typing import Any

from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.report.parts import run_part
from broker_tck.properties.search.budget import Budget


def test_conformance(conformance_case: tuple[Subject, str, str, Budget], request: Any) -> None:
    """A subject conforms to its contract under a profile."""
    run_part(*conformance_case, request)
