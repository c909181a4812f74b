"""Subjects of Java on a real Java, with the released jars of Apache Pulsar."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from jvm.compiling import compiled

from broker_tck.implementations.jvm import java as machine
from broker_tck.implementations.jvm.java import see_java
from broker_tck.implementations.jvm.unavailable import Unavailable
from broker_tck.implementations.released import released

# These tests need the extra `jvm`; where it is not installed they are not even imported.
collect_ignore_glob = [] if find_spec("jpype") and find_spec("jgo") else ["*.py"]


@pytest.fixture(scope="session", autouse=True)
def java() -> Iterator[None]:
    """A Java, and jars. Without them tests are skipped in one line, but not where CI would take that for a pass.

    Java's optimizing compiler would cost more here than it saves: what it is asked for does not last.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "OPTIONS", (*machine.OPTIONS, "-XX:TieredStopAtLevel=1"))
        try:
            see_java(21)
            released("pulsar-4.2.4/in-memory")
        except Unavailable as error:
            if os.environ.get("CI"):
                pytest.fail(str(error), pytrace=False)
            pytest.skip(str(error))
        yield


@pytest.fixture(scope="session")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compiled classes of the tests' own: trackers that misbehave, ways to ask for the time, a task."""
    return compiled(Path(__file__).parent / "java", "4.2.4", tmp_path_factory.mktemp("odd"))
