"""The example of a plug-in, installed into a new virtual environment and taken through every door."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import textwrap
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
from kit import PATIENCE

pytestmark = pytest.mark.slow

REPO = Path(__file__).parents[1]
SHORT = ("--walks", "100", "--examples", "5")
GOOD, BROKEN, BROKEN_RULE = "SortedListTracker", "EarlyTracker", "DD-06"
FEW = """
[tool.broker-tck]
walks = 90
examples = 20
"""
"""So few that every rule comes up."""
NAMES = {GOOD: "sorted-list", BROKEN: "sorted-list-early"}
TEST_MODULE = """
from broker_tck.properties import conformance
from tracker_plugin import {factory}

test_it = conformance("delayed-delivery", {factory})
"""

Command = Callable[..., "subprocess.CompletedProcess[str]"]


def command(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYTEST", "COV_", "COVERAGE"))}
    environment["COLUMNS"] = "160"
    words = tuple(map(str, words))
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with copies of the kit and the plug-in; it sees the dependencies of the tests' own."""
    folder = tmp_path_factory.mktemp("plugin")
    venv.create(folder / "venv", symlinks=True)
    purelib = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder / "venv")}))
    others = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    purelib.joinpath("dependencies.pth").write_text("\n".join(sorted(others)), encoding="utf-8")
    unwanted = shutil.ignore_patterns(".*", "build", "dist", "site", "*.egg-info", "__pycache__")
    shutil.copytree(REPO, folder / "kit", ignore=unwanted)
    shutil.copytree(REPO / "examples" / "tracker-plugin", folder / "plugin", ignore=unwanted)
    python = folder / "venv" / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check")
    done = command(folder, *pip, "--no-index", "--no-deps", "--no-build-isolation", folder / "kit", folder / "plugin")
    assert done.returncode == 0, done.stdout + done.stderr
    return python


@pytest.fixture
def run(python: Path, tmp_path: Path) -> Command:
    """Runs a module in the new environment, in a folder whose table asks for few walks."""
    tmp_path.joinpath("pyproject.toml").write_text(FEW, encoding="utf-8")
    return lambda module, *words: command(tmp_path, python, "-m", module, *words)


def test_the_kit_is_the_installed_copy(python: Path, tmp_path: Path) -> None:
    where = "import broker_tck.cli.main as m, tracker_plugin as p; print(m.__file__, p.__file__, sep='\\n')"
    found = command(tmp_path, python, "-c", where).stdout.splitlines()
    assert [Path(path).is_relative_to(python.parents[1]) for path in found] == [True, True]


def test_its_own_tests_pass(run: Command, python: Path) -> None:
    done = run("pytest", "-q", "-p", "no:cacheprovider", python.parents[2] / "plugin" / "tests")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b38 passed\b", done.stdout)


def test_door_of_one_call_fails_for_the_broken_one(run: Command, tmp_path: Path) -> None:
    tmp_path.joinpath("test_broken.py").write_text(TEST_MODULE.format(factory=BROKEN), encoding="utf-8")
    done = run("pytest", "-q", "-k", "walks", "test_broken.py")
    assert (done.returncode, f"{BROKEN_RULE} is broken by tracker_plugin:{BROKEN}" in done.stdout) == (1, True)


@pytest.mark.parametrize("factory", [pytest.param(GOOD, marks=pytest.mark.deep), BROKEN])
def test_door_of_pytests_option(run: Command, factory: str) -> None:
    """`pytest --subject` passes the example plug-in, and fails its broken tracker by the right rule."""
    subject = f"tracker_plugin:{factory}"
    done = run("pytest", "-q", "--pyargs", "broker_tck.properties", "--subject", subject, "-p", "no:cacheprovider")
    assert done.returncode == (factory == BROKEN), done.stdout + done.stderr
    assert (f"{BROKEN_RULE} is broken by {subject}" in done.stdout) == (factory == BROKEN)


@pytest.mark.parametrize(("door", "factory"), [("entry point", GOOD), ("module", BROKEN)])
def test_doors_of_the_command_line(run: Command, factory: str, door: str) -> None:
    subject = NAMES[factory] if door == "entry point" else f"tracker_plugin:{factory}"
    done = run("broker_tck.cli.main", "check", "--subject", subject, *SHORT)
    assert done.returncode == (factory == BROKEN), done.stdout + done.stderr
    assert (f"{BROKEN_RULE} is broken by {subject}" in done.stdout) == (factory == BROKEN)


def test_broken_one_is_reported_as_json_and_shown_by_the_workflow(run: Command, tmp_path: Path) -> None:
    done = run("broker_tck.cli.main", "check", "--subject", NAMES[BROKEN], *SHORT, "--json")
    (told,) = json.loads(done.stdout)["subjects"]
    assert (done.returncode, told["verdict"]) == (1, "broken")
    assert [finding["rules"] for finding in told["findings"]] == [[BROKEN_RULE]]
    workflow = (REPO / "examples" / "ci" / "broker-tck.yml").read_text(encoding="utf-8")
    shows = textwrap.dedent(workflow.partition("<<'END'\n")[2].partition("          END")[0])
    tmp_path.joinpath("broker-tck.json").write_text(done.stdout, encoding="utf-8")
    shown = command(tmp_path, sys.executable, "-c", shows)
    assert (shown.returncode, shown.stdout.split()[0]) == (0, BROKEN_RULE), shown.stderr


def test_both_are_listed_by_their_entry_points(run: Command) -> None:
    told = json.loads(run("broker_tck.cli.main", "subjects", "--json").stdout)["subjects"]
    listed = {subject["subject"]: subject["source"] for subject in told if subject["source"] != "bundled"}
    assert listed.items() >= {name: f"tracker_plugin:{factory}" for factory, name in NAMES.items()}.items()
