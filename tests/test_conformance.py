"""The doors of pytest: a user's whole test module, and the tests that the kit brings along."""

from __future__ import annotations

import re
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from kit import python
from test_docs import code_of_the_tutorial

import broker_tck
import broker_tck.properties
from broker_tck.cli import check as command
from broker_tck.properties import pytest_plugin
from broker_tck.properties.contracts.delayed_delivery.contract import DELAYED_DELIVERY
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import bundled, resolve
from broker_tck.properties.report import calling, parts
from broker_tck.properties.search.budget import Budget
from broker_tck.properties.search.run import to_exercise

PLUGIN = ("-p", "no:broker-tck", "-p", "broker_tck.properties.pytest_plugin")
"""By its module: a working copy that is not installed has no entry point. The example's tests go through that."""
FASTER = """
from hypothesis import Phase, settings

from broker_tck.properties.search import budget

budget.WALKS, budget.EXAMPLES = 90, 20
settings.register_profile("fixed", derandomize=True, database=None, deadline=None, phases=[Phase.generate])
"""
"""The profile also shrinks nothing; test_machine sees that a user's machine is shrunk."""


@pytest.fixture
def folder(tmp_path: Path, cli: Cli) -> Path:
    """What `init` writes, with fewer walks."""
    made = tmp_path / "my-tracker"
    assert cli("init", made)[0] == 0
    (made / "conftest.py").write_text(FASTER)
    return made


def pytest_in(folder: Path, *arguments: str) -> tuple[int, str]:
    done = python("-m", "pytest", "-p", "no:cacheprovider", *arguments, cwd=folder)
    return done.returncode, done.stdout + done.stderr


def broken(folder: Path) -> None:
    """Get one rule of the template wrong."""
    file = folder / "my_tracker.py"
    text = file.read_text()
    assert text.count("<= self.cutoff():") == 1
    file.write_text(text.replace("<= self.cutoff():", "< self.cutoff():"))


@pytest.mark.slow
def test_debugger_of_pytest_stops_where_the_answer_is_wrong(folder: Path) -> None:
    broken(folder)
    done = python("-m", "pytest", "-x", "--pdb", "-k", "walks", cwd=folder, typed="s\np self.strict\nq\nq\n")
    assert "-> if deliver_at < 0 or deliver_at < self.cutoff():\n(Pdb) True\n" in done.stdout, done.stdout


@pytest.mark.slow
def test_template_conforms(folder: Path) -> None:
    status, out = pytest_in(folder, "-v")
    assert status == 0, out
    assert "test_my_tracker.py::test_my_tracker[timebucket-ideal-walks] PASSED" in out
    assert "test_my_tracker.py::test_my_tracker[timebucket-ideal-machine] PASSED" in out
    rules = [rule.number for rule in to_exercise(resolve("time-bucket"), DELAYED_DELIVERY.specification)]
    assert all(f"[timebucket-ideal-{number}] PASSED" in out for number in rules)
    assert f"{len(rules) + 2} passed" in out
    assert "warning" not in out.lower()


FIXED = "--hypothesis-profile=fixed"


@pytest.mark.slow
def test_broken_tracker_fails_with_the_story(folder: Path) -> None:
    broken(folder)
    status, out = pytest_in(folder, FIXED)
    assert status == 1, out
    assert "DD-09 is broken by my_tracker:MyTracker (timebucket-ideal; " in out
    assert "\nYour tracker accepts a message whose time is exactly the cut-off; that message" in out
    assert "  How sure    certain: a model with this mistake agrees with your" in out
    assert "  Mistake     equality accepted (refuses)\n" in out
    assert "broker-tck replay --subject my_tracker:MyTracker 'delayed-delivery timebucket-ideal" in out
    assert "Traceback" not in out
    assert re.search("^FAILED .*-DD-09", out, re.MULTILINE)
    assert "3 failed" in out
    assert "\nstate = my_tracker_MyTracker_timebucket_ideal()\nstate.start(config=Config(" in out
    (folder / "test_bursts.py").write_text(code_of_the_tutorial()[0][0])
    status, out = pytest_in(folder, "test_bursts.py", FIXED)
    assert status == 1, out
    assert "DD-09 is broken by my_tracker:MyTracker (timebucket-ideal; " in out
    assert "state = Bursts()" in out
    assert "@reproduce_failure(" in out


@pytest.mark.slow
def test_kit_s_own_tests_check_bundled_subjects_by_default(tmp_path: Path) -> None:
    status, out = pytest_in(tmp_path, *PLUGIN, "--pyargs", "broker_tck.properties", "--collect-only", "-q")
    assert status == 0, out
    assert "test_conformance[heap-heap-golden]" in out
    for subject in chain.from_iterable(map(bundled, CONTRACTS.values())):
        for part in ("walks", "machine"):
            assert re.search(rf"test_conformance\[{re.escape(subject.name)}-[^]]*-{part}\]", out), (subject.name, part)


def test_plugin_asks_for_what_pyproject_names(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    settings = '[tool.broker-tck]\nseed = 7\nsubjects = [{name = "heap", accepts = {"DD-09" = "by the bucket"}}]\n'
    (folder / "pyproject.toml").write_text(settings)
    function = Function("conformance_case", **{"--subject": []})
    pytest_plugin.pytest_generate_tests(function)
    assert function.ids[0] == "heap-heap~DD-09:by_the_bucket-walks"
    assert {asked for *_, asked in function.cases} == {Budget(seed=7)}
    (folder / "pyproject.toml").write_text("[tool.broker-tck]\nsubject = 1")
    with pytest.raises(pytest.UsageError, match=r"broker-tck: pyproject\.toml: .* did you mean 'subjects'"):
        pytest_plugin.pytest_generate_tests(function)


@pytest.mark.parametrize("table", ["", "walks = 3\nexamples = 4\nseed = 7\n"])
def test_each_door_asks_with_the_same_budget(
    folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, table: str
) -> None:
    """`check`, the kit's own tests and a test module of one's own; and a call, which reads no table."""
    asked: list[Budget] = []
    monkeypatch.chdir(folder)
    (folder / "pyproject.toml").write_text(f'[tool.broker-tck]\nsubjects = ["heap"]\n{table}')
    monkeypatch.setattr(command, "checked", lambda pairs, budget, *_: asked.append(budget) or ())
    cli("check", "--json")
    function = Function("conformance_case", **{"--subject": []})
    pytest_plugin.pytest_generate_tests(function)
    asked.append(function.cases[0][-1])
    monkeypatch.setattr(parts, "run_part", lambda *case: asked.append(case[3]))
    parts.conformance("delayed-delivery", "heap")("heap", "walks", request)
    assert asked == [Budget(7, 3, 4) if table else Budget()] * 3
    monkeypatch.setattr(calling, "run_all", lambda tasks, _: asked.append(tasks[0].work.args[1]) or ())
    broker_tck.check("heap")
    assert asked[-1] == Budget()


class Parser:
    """Takes options down."""

    def __init__(self) -> None:
        self.options: list[str] = []

    def getgroup(self, name: str) -> Parser:
        return self

    def addoption(self, name: str, **rest: Any) -> None:
        self.options.append(name)


class Function:
    """A test function that pytest asks for its cases."""

    def __init__(self, *names: str, **options: Any) -> None:
        self.fixturenames = names
        self.config = self
        self.getoption = options.get
        self.ids: list[str] = []
        self.cases: list[Any] = []

    def parametrize(self, name: str, cases: list[Any]) -> None:
        self.cases, self.ids = [case.values[0] for case in cases], [case.id for case in cases]


def test_plugin_asks_for_one_test_a_part() -> None:
    parser: Any = Parser()
    pytest_plugin.pytest_addoption(parser)
    assert parser.options == ["--subject", "--profile"]
    other = Function("tmp_path")
    pytest_plugin.pytest_generate_tests(other)
    assert other.ids == []
    function = Function("conformance_case", **{"--subject": ["time-bucket"]})
    pytest_plugin.pytest_generate_tests(function)
    assert function.ids[:2] == [f"time-bucket-timebucket-ideal-{part}" for part in ("walks", "machine")]
    assert "time-bucket-timebucket-ideal-DD-05" in function.ids[2:]
    function = Function("conformance_case", **{"--subject": [], "--profile": "heap"})
    pytest_plugin.pytest_generate_tests(function)
    golden = [name for name in function.ids if name.endswith("golden")]
    assert len(golden) == len(list(bundled(CONTRACTS["delayed-delivery"])))
    with pytest.raises(pytest.UsageError, match="broker-tck: unknown subject 'x'"):
        pytest_plugin.pytest_generate_tests(Function("conformance_case", **{"--subject": ["x"]}))


def test_case_is_run(request: pytest.FixtureRequest) -> None:
    from broker_tck.properties.test_conformance import test_conformance as of_the_kit

    of_the_kit((resolve("heap"), "heap", "walks", Budget(walks=1)), request)
    with pytest.raises(pytest.fail.Exception, match="NOT ENOUGH: DD-13 never came up"):
        of_the_kit((resolve("heap"), "heap", "DD-13", Budget(walks=0)), request)
    of_the_kit((resolve("heap"), "heap", "golden", Budget()), request)


def test_kit_offers_conformance_alone() -> None:
    assert broker_tck.properties.__all__ == ["conformance"]
    assert callable(broker_tck.properties.conformance)
    with pytest.raises(AttributeError, match="has no attribute 'performance'"):
        attrgetter("performance")(broker_tck.properties)


def test_plugin_is_light() -> None:
    """Every run of pytest loads it, with or without the kit's tests."""
    code = "import sys, broker_tck.properties.pytest_plugin; print(*(m for m in sys.modules if 'broker_tck.' in m))"
    done = python("-c", code)
    assert set(done.stdout.split()) == {"broker_tck.properties", "broker_tck.properties.pytest_plugin"}


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=CONTRACTS)
def test_tests_of_rules_belong_to_those_of_their_walks(contract: Contract) -> None:
    named = parts.as_parameters(bundled(contract)[0], None)
    groups = {pytest_plugin.OF_RULE.sub("-walks]", f"test.py::test[{each.id}]") for each in named}
    assert groups == {f"test.py::test[{each.id}]" for each in named if each.values[1] in parts.PARTS}
