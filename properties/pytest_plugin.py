"""The pytest plugin: ``pytest --pyargs broker_tck.properties --subject package.module:Factory``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that name what is checked."""
    group = parser.getgroup("broker-tck")
    group.addoption("--subject", action="append", default=[], metavar="S", help="Subject that broker-tck checks.")
    group.addoption("--profile", default=None, metavar="P", help="Profile; default: those that the subject declares.")


def pytest_generate_tests(metafunc: Any) -> None:
    """One test for each subject, profile and part of ``broker_tck.properties.test_conformance``."""
    if "conformance_case" not in metafunc.fixturenames:
        return
    import pytest

    from broker_tck.properties.contracts import CONTRACTS
    from broker_tck.properties.engine.subjects import bundled, having_profile, resolve
    from broker_tck.properties.errors import BadInput
    from broker_tck.properties.parts import cases

    try:
        named = [resolve(name) for name in metafunc.config.getoption("--subject")]
        profile = metafunc.config.getoption("--profile")
        every = list(CONTRACTS.values())
        contracts = having_profile(profile or "") or (every[:1] if profile else every)
        subjects = named or [s for contract in contracts for s in bundled(contract)]
        found = [(subject, *case) for subject in subjects for case in cases(subject, profile)]
    except (BadInput, ValueError) as error:
        raise pytest.UsageError(f"broker-tck: {error}") from None
    metafunc.parametrize("conformance_case", found, ids=[f"{s.name}-{p}-{part}" for s, p, part in found])
