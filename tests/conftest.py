"""Hypothesis as CI runs it: the same examples every time, and no deadline."""

from __future__ import annotations

import gc
import math
import os
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from broker_tck.cli import output
from broker_tck.cli.main import run

settings.register_profile("ci", derandomize=True, deadline=None, database=None, max_examples=60, print_blob=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

SMOKE = ("check", "diagnose", "golden", "invariants", "machine", "mutants", "reduce", "rules", "trace", "trackers")
"""Test files of the core. All their tests are marked, except the slow and deep ones."""
Cli = Callable[..., tuple[int, str, str]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `pytest -m smoke` runs."""
    for item in items:
        long = any(item.get_closest_marker(name) for name in ("slow", "deep"))
        if item.path.stem.removeprefix("test_") in SMOKE and not long:
            item.add_marker("smoke")


def pytest_collection_finish() -> None:
    """Keep the garbage collector from touching what stays till the end; otherwise each fork would copy all of it."""
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, bool, bool]:
    """Note the processor time of each test and of its child processes, if scripts/measure.py asks for it.

    After the tests of a file, what is left of them stays: models that are cached, above all. If it were not frozen as
    well, each collection that an invariant asks for would look through all of it.
    """
    before = sum(os.times()[:4])
    done = yield
    if nextitem and nextitem.path != item.path:
        gc.collect()
        gc.freeze()
    if log := os.environ.get("COSTS_LOG"):
        with Path(log).open("a", encoding="utf-8") as notes:
            notes.write(f"test {sum(os.times()[:4]) - before:.2f} {item.nodeid}\n")
    return done


@pytest.fixture(autouse=True)
def _never_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """No command says how far it is, however slow the machine."""
    monkeypatch.setattr(output, "FIRST", math.inf)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run the command line; answers with its exit status, standard output and standard error."""

    def call(*arguments: Any) -> tuple[int, str, str]:
        status = run([str(argument) for argument in arguments])
        return (status, *capsys.readouterr())

    return call
