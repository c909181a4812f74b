"""Subjects in other languages, with their real toolchains."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from broker_tck.implementations.go.toolchain import root
from broker_tck.implementations.jvm.unavailable import Unavailable
from broker_tck.implementations.kits import KITS


def without(line: str) -> None:
    """Skip a test in one line, but not if CI would take that for a pass."""
    if os.environ.get("CI"):
        pytest.fail(line, pytrace=False)
    pytest.skip(line)


@pytest.fixture(autouse=True)
def _rust_of_another_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cargo finds its toolchains if it was installed in another home than that of the tests."""
    cargo = shutil.which("cargo")
    toolchains = Path(cargo).parents[2] / ".rustup" if cargo else Path()
    if cargo and toolchains.is_dir() and "RUSTUP_HOME" not in os.environ:
        monkeypatch.setenv("RUSTUP_HOME", str(toolchains))


@pytest.fixture
def toolchain() -> Callable[[str], None]:
    """Ends a test that needs the toolchain of a language if that is missing."""

    def needed(language: str) -> None:
        if line := KITS[language].missing():
            without(line)

    return needed


@pytest.fixture(scope="session")
def go() -> Path:
    """The folder of a Go that builds the Go client."""
    try:
        return root(Path())
    except Unavailable as error:
        without(str(error))
        raise
