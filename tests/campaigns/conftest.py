"""What campaigns are run with, and the undisturbed run that others are compared with."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from campaigns.browser import CHROMIUM, Browser, browser

NEEDED = ("moto", "deltalake", "grpc", "pyspark", "jgo", "jpype", "jinja2")
# These tests need the extras `campaigns`, `connect`, `jvm` and `report`; without them they are not even imported.
collect_ignore_glob = ["*.py"] if None in map(find_spec, NEEDED) else []

if not collect_ignore_glob:
    from campaigns.cluster import PROCESSES, Command, Ended, campaign, guarded

    from broker_tck.implementations.kits import KITS
    from broker_tck.properties.errors import BadInput
    from broker_tck.spark_fuzz.executors.session import java

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
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of the user's Go: the tracker of the kit for authors, with the bug that the page shows."""
    kit, folder = KITS["go"], tmp_path_factory.mktemp("go")
    if line := kit.missing():
        (pytest.fail if os.environ.get("CI") else pytest.skip)(line)
    for name, text in kit.files("delayed-delivery").items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text.replace("key+t.width-1 <=", "key <="), encoding="utf-8")
    subprocess.run(["go", "build"], cwd=folder, check=True, env={**os.environ, "GOPROXY": "off"})
    return folder / "adapter"


@pytest.fixture(scope="session")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder below which all works; whatever still runs there in the end is killed, however the tests end."""
    folder = tmp_path_factory.getbasetemp()
    with guarded(folder):
        yield folder


@pytest.fixture
def start(ground: Path, tmp_path: Path) -> Start:
    """Start a command in the test's own folder."""
    return lambda *arguments, **variables: Command(tmp_path, *arguments, **variables)


@pytest.fixture
def run(start: Start) -> Run:
    """Run a command to its end in the test's own folder."""
    return lambda *arguments, **variables: start(*arguments, **variables).end()


@pytest.fixture(scope="session")
def reference(ground: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of the run that nobody disturbed, by processes."""
    folder = tmp_path_factory.mktemp("reference")
    ended = Command(folder, *campaign("store", *PROCESSES)).end()
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
