"""The pytest plugin: ``pytest --pyargs broker_tck.properties --subject package.module:Factory``.

Without ``--subject``, the subjects are those of the table ``[tool.broker-tck]`` of pyproject.toml, if it names some;
without ``--profile`` they are as the table has them, and its seed, walks and examples are those of the check.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pluggy import HookimplMarker

if TYPE_CHECKING:
    import pytest


hookimpl = HookimplMarker("pytest")
OF_RULE = re.compile(r"-([A-Z]+-)?P?\d+]$")
"""How the name of a rule's test ends."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that name what is checked."""
    group = parser.getgroup("broker-tck")
    says = "Subject for broker-tck to check. Default: the subjects in pyproject.toml."
    group.addoption("--subject", action="append", default=[], metavar="S", help=says)
    group.addoption(
        "--profile", default=None, metavar="P", help="Profile. Default: each profile that the subject declares."
    )


@hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Let ``-n`` keep tests together that look at the same walks. Other tests are handed out as they always are."""
    if getattr(config.option, "numprocesses", None) and getattr(config.option, "dist", "") == "no":
        config.option.dist = "loadgroup"


@hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand the tests of rules to the process that makes their walks: they look at these."""
    if config.getoption("dist") != "loadgroup":
        return None
    scheduler = import_module("xdist.scheduler").LoadGroupScheduling(config, log)
    grouped = scheduler._split_scope  # noqa: SLF001 # it has no other door
    scheduler._split_scope = lambda test: grouped(OF_RULE.sub("-walks]", test))  # noqa: SLF001
    return scheduler


def pytest_generate_tests(metafunc: Any) -> None:
    """One test for each subject, profile and part of ``broker_tck.properties.test_conformance``."""
    if "conformance_case" not in metafunc.fixturenames:
        return
    from pathlib import Path

    import pytest

    from broker_tck.properties.engine.registry import CONTRACTS
    from broker_tck.properties.engine.subjects import bundled, having_profile
    from broker_tck.properties.errors import BadInput
    from broker_tck.properties.report.parts import cases
    from broker_tck.properties.search.budget import budget
    from broker_tck.properties.search.isolation.unloaded import resolve_unloaded
    from broker_tck.properties.settings import settings_of

    try:
        settings = settings_of(Path.cwd())
        named = [resolve_unloaded(name) for name in metafunc.config.getoption("--subject")] or settings.resolved()
        profile = metafunc.config.getoption("--profile")
        every = list(CONTRACTS.values())
        contracts = having_profile(profile or "") or (every[:1] if profile else every)
        subjects = named or [s for contract in contracts for s in bundled(contract)]
        asked = budget(bool(named), vars(settings))
        found = [(subject, *case, asked) for subject in subjects for case in cases(subject, profile)]
    except (BadInput, ValueError) as error:
        raise pytest.UsageError(f"broker-tck: {error}") from None
    parameters = [pytest.param((s, p, part, n), id=f"{s.name}-{p}-{part}") for s, p, part, n in found]
    metafunc.parametrize("conformance_case", parameters)
