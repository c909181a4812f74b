"""The pytest plugin: ``pytest --pyargs broker_tck.properties --subject package.module:Factory``.

Without ``--subject``, the subjects are those of the table ``[tool.broker-tck]`` of pyproject.toml, if it names some;
without ``--profile`` they are as the table has them, and its seed is that of the walks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that name what is checked."""
    group = parser.getgroup("broker-tck")
    says = "Subject that broker-tck checks; default: those of pyproject.toml."
    group.addoption("--subject", action="append", default=[], metavar="S", help=says)
    group.addoption("--profile", default=None, metavar="P", help="Profile; default: those that the subject declares.")


def pytest_generate_tests(metafunc: Any) -> None:
    """One test for each subject, profile and part of ``broker_tck.properties.test_conformance``."""
    if "conformance_case" not in metafunc.fixturenames:
        return
    from pathlib import Path

    import pytest

    from broker_tck.properties.contracts import CONTRACTS
    from broker_tck.properties.engine.subjects import bundled, having_profile, resolve
    from broker_tck.properties.errors import BadInput
    from broker_tck.properties.parts import cases
    from broker_tck.properties.settings import settings_of

    try:
        settings = settings_of(Path.cwd())
        named = [resolve(name) for name in metafunc.config.getoption("--subject")] or settings.resolved()
        profile = metafunc.config.getoption("--profile")
        every = list(CONTRACTS.values())
        contracts = having_profile(profile or "") or (every[:1] if profile else every)
        subjects = named or [s for contract in contracts for s in bundled(contract)]
        seed = settings.seed or 0
        found = [(subject, *case, seed) for subject in subjects for case in cases(subject, profile)]
    except (BadInput, ValueError) as error:
        raise pytest.UsageError(f"broker-tck: {error}") from None
    metafunc.parametrize("conformance_case", found, ids=[f"{s.name}-{p}-{part}" for s, p, part, _ in found])
