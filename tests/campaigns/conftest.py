"""Campaigns on a real cluster of Spark, and the undisturbed run that all others are compared with."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from campaigns.browser import CHROMIUM, Browser, browser

# These tests need the extras `spark` and `report`; where Spark is not installed they are not even imported.
collect_ignore_glob = [] if find_spec("pyspark") and find_spec("pyarrow") else ["*.py"]
# Those of Java need the extra `jvm` as well.
collect_ignore = [] if find_spec("jpype") and find_spec("jgo") else ["test_java.py"]

if not collect_ignore_glob:
    from campaigns.cluster import Command, Ended, archived, campaign, eventually, guarded, on, processes

    from broker_tck.bench.loopback import Cluster
    from broker_tck.properties.errors import BadInput
    from broker_tck.spark_fuzz.executors.session import JVM, java

WORKERS = 2
Start = Callable[..., "Command"]
Run = Callable[..., "Ended"]


@pytest.fixture(scope="session")
def spark() -> None:
    """What runs Spark. Without it tests are skipped, but not where CI would take that for a pass."""
    try:
        java()
    except BadInput as error:
        if os.environ.get("CI"):
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def ground(spark: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder below which all works; whatever still runs there in the end is killed, however the tests end."""
    folder = tmp_path_factory.getbasetemp()
    with guarded(folder), pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", f"{JVM} {archived(folder)}")  # the cluster's own processes as well
        yield folder


@pytest.fixture(scope="session")
def standing(ground: Path) -> Iterator[Cluster]:
    """A cluster on this machine. Its processes know nothing of where the kit lies, unless a campaign tells them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONPATH", raising=False)
        with Cluster(ground / "cluster", WORKERS) as cluster:
            yield cluster


@pytest.fixture
def cluster(standing: Cluster) -> Cluster:
    """The cluster with all its workers, whatever the test before has killed, and without executors of others."""
    for _ in range(standing.alive(), WORKERS):
        standing.add_worker()
    eventually(lambda: standing.alive() == WORKERS, "all workers")
    eventually(lambda: not processes(standing.folder, "CoarseGrainedExecutorBackend"), "the end of all executors")
    return standing


@pytest.fixture
def start(ground: Path, tmp_path: Path) -> Start:
    """Start a command in the test's own folder."""
    return lambda *arguments, **variables: Command(tmp_path, *arguments, **variables)


@pytest.fixture
def run(start: Start) -> Run:
    """Run a command to its end in the test's own folder."""
    return lambda *arguments, **variables: start(*arguments, **variables).end()


@pytest.fixture(scope="session")
def reference(standing: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of the run that nobody disturbed."""
    folder = tmp_path_factory.mktemp("reference")
    ended = Command(folder, *campaign("store", *on(standing, folder))).end()
    assert (ended.status, ended.err) == (1, "")
    return folder / "store"


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser, for all tests of pages."""
    if not CHROMIUM:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(
            "needs Chromium: scripts/install-chromium.sh installs it"
        )
    with browser(tmp_path_factory.mktemp("chromium")) as running:
        yield running


@pytest.fixture(scope="session")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder for pictures: the one that SCREENSHOTS names, if it is set."""
    wanted = os.environ.get("SCREENSHOTS")
    folder = Path(wanted) if wanted else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
