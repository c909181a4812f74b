"""The command line: what it prints where, and its exit status."""

from __future__ import annotations

import inspect
import json
import re
import runpy
import shlex
import sys
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import kit
import pytest
import refresh
from click.shell_completion import ShellComplete
from conftest import Cli
from kit import MODEL, commands_below, python

from broker_tck.cli import check as check_command
from broker_tck.cli import checking, output, table
from broker_tck.cli.main import cli as group
from broker_tck.cli.plugin import KINDS, methods
from broker_tck.implementations.bundled import BUNDLED
from broker_tck.implementations.released import KINDS as RELEASED
from broker_tck.implementations.released import NAME, RELEASE
from broker_tck.model.rules import rules_of
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import declared, resolve
from broker_tck.properties.engine.trace import load
from broker_tck.properties.explain.deviating import deviation
from broker_tck.properties.explain.guarding import run_all
from broker_tck.properties.report import made
from broker_tck.properties.report.made import replay_command
from broker_tck.properties.report.result import Golden
from broker_tck.properties.search.isolation.pool import in_parallel
from broker_tck.properties.search.run import Run, checked
from broker_tck.spark_fuzz.driver import fingerprint

GOOD = "add 1 0 +2000; adv 2000; get 10; close"
BAD = "add 1 0 +2000; add 1 0 +2000; get 5"
"""What timebucket-2025 counts twice."""
MODELLED = ["timebucket-2026", "timebucket-5.0", "timebucket-5.0-M1", "timebucket-2025", "timebucket-4.0.4"]
TRACKERS = ["time-bucket", "heap", *MODELLED, "timebucket-4.0.1"]
QUICK = ("--walks", "40", "--examples", "3")
FIRST = output.FIRST
COMMANDS = [
    (),
    *((name,) for name in commands_below(group)),
    *(
        (of, name)
        for of, command in commands_below(group).items()
        if isinstance(command, click.Group)
        for name in commands_below(command)
    ),
]


def document(result: tuple[int, str, str]) -> Any:
    """The one JSON document that was printed."""
    _, out, err = result
    assert err == ""
    return json.loads(out)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_has_examples(cli: Cli, command: tuple[str, ...]) -> None:
    status, out, err = cli(*command, "--help")
    assert (status, err) == (0, "")
    assert "Examples:\n    broker-tck " in out
    assert out.startswith(f"Usage: broker-tck{''.join(f' {word}' for word in command)} ")
    assert max(map(len, out.splitlines())) <= 120
    assert cli(*command, "-h")[1] == out


def test_examples_name_what_there_is(cli: Cli) -> None:
    told = "".join(cli(*command, "--help")[1] for command in COMMANDS)
    for option in ("--subject", "--mutant"):
        for name in re.findall(rf"  broker-tck .*{option} (\S+)", told):
            of_a_release = NAME.fullmatch(name)
            assert (
                name.startswith("my_package.")
                or RELEASE.fullmatch(name)
                or (
                    of_a_release["kind"] in RELEASED
                    if of_a_release
                    else resolve(name if option == "--subject" else f"mutant:{name}")
                )
            )


def test_version_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    status, out, _ = cli("--version")
    assert status == 0
    assert out.startswith("broker-tck, version ")
    monkeypatch.setattr(fingerprint, "version", lambda name: "1.2.3")
    assert fingerprint.kit_version() == "1.2.3"


# ---- check


@pytest.mark.slow
def test_check_prints_one_document(cli: Cli) -> None:
    result = cli("check", "--subject", "kit:OneTooMany", "--subject", "heap", "--json", *QUICK)
    assert result[0] == 1
    told = document(result)
    assert told["conform"] is False
    one, heap = told["subjects"]
    assert (one["verdict"], heap["subject"], heap["golden"]) == ("broken", "heap", {"steps": 5959, "agreed": 5959})
    (finding,) = one["findings"]
    assert finding["rules"] == ["DD-20"]
    assert finding["ways"] == ["DD-20 index.taken: one_too_many"]
    assert finding["operations"][-1][0] == "get"
    assert set(heap) == set(one)


def test_check_may_end_at_the_first_failure(cli: Cli) -> None:
    subjects = ("--subject", "kit:OneTooMany", "--subject", "heap")
    status, out, _ = cli("check", *subjects, "--fail-fast", "--walks", "40")
    assert status == 1
    assert out.splitlines()[-1] == "0 of 1 conform"


def test_rule_that_was_not_exercised_is_no_pass(cli: Cli) -> None:
    status, out, _ = cli("check", "--subject", "time-bucket", "--walks", "1", "--examples", "0")
    assert status == 4
    assert re.search(r"^time-bucket \(timebucket-ideal\): NOT ENOUGH: never came up: DD-", out, re.MULTILINE)
    assert "  broker-tck check --subject time-bucket --profile timebucket-ideal --walks 10\n" in out
    assert " is broken by " not in out


def test_bundled_subjects_of_all_contracts_are_the_default() -> None:
    found = check_command.subjects_of((), (), None, None)
    assert {s.name for s in found} > {*BUNDLED}
    assert {p for s in found for p in s.profiles} == {p for contract in CONTRACTS.values() for p in contract.profiles}
    two = check_command.subjects_of(("negative-acks", "delayed-delivery"), (), None, None)
    assert {s.contract.name for s in two} == {"negative-acks", "delayed-delivery"}


def test_rows_are_folded_where_the_terminal_is_narrow(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    golden = Golden(5959, 5959)
    found = kit.result_of(
        "heap",
        "heap",
        verdict="not enough",
        golden=golden,
        walked=3_900,
        machine_steps=100,
        left_out=["entry_id_bits=63"],
    )
    layout = table.Layout([(resolve("heap"), "heap")])
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    layout.tell(found)
    assert capsys.readouterr().out.splitlines() == [
        "\x1b[33mNOT ENOUGH  \x1b[0mheap (heap)",
        "            golden 5959/5959, rules 1 of 2, walks 3,",
        "            operations 4,000, left out entry_id_bits=63",
    ]
    monkeypatch.setenv("COLUMNS", "200")
    layout.tell(found)
    assert capsys.readouterr().out.splitlines()[1].startswith("\x1b[33mNOT ENOUGH\x1b[0m  heap     heap     5959/5959")


# ---- walk


@pytest.mark.slow
def test_walks_are_made(cli: Cli) -> None:
    status, out, err = cli("walk", "--subject", "heap", "--walks", "3")
    assert (status, err) == (0, "")
    assert out.split()[:8] == ["subject", "profile", "walks", "operations", "a", "second", "rules", "not"]
    (told,) = document(cli("walk", "--subject", "heap", "--operations", "2000", "--seed", "7", "--json"))["walks"]
    assert told["operations"] >= 2000
    assert told["seed"] == 7
    assert not told["findings"]


def test_failing_walk_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    status, out, _ = cli("walk", "--subject", "kit:OneTooMany")
    assert status == 1
    assert "DD-20 is broken by kit:OneTooMany" in out
    assert "failed" in out
    monkeypatch.setattr(kit.Flaky, "failures", 1)
    status, out, _ = cli("walk", "--subject", "kit:Flaky")
    assert status == 1
    assert "kit:Flaky (timebucket-ideal): the subject is not deterministic: at operation " in out


@pytest.mark.slow
def test_walks_are_recorded_and_replayed(cli: Cli, tmp_path: Any) -> None:
    file = tmp_path / "walks.jsonl"
    status, _, err = cli("walk", "--subject", "heap", "--walks", "3", "--record", file)
    assert (status, err) == (0, "")
    traces = load(str(file))
    assert [trace.profile for trace in traces] == ["heap"] * 3
    steps = sum(len(trace.operations) for trace in traces)
    status, out, _ = cli("replay", file)
    assert (status, out.splitlines()[-1]) == (0, f"{steps} of {steps} steps agreed")


# ---- replay and reduce


def test_replay_of_one_trace_shows_its_outcomes(cli: Cli) -> None:
    status, out, err = cli("replay", GOOD)
    assert (status, err) == (0, "")
    assert out.splitlines()[-2:] == ["replayed on: model, time-bucket", "4 of 4 steps agreed"]
    assert "[[1 0]], count 0 messages, armed []" in out


def test_replay_shows_the_first_difference(cli: Cli) -> None:
    status, out, _ = cli("replay", BAD, "--subject", "timebucket-2025")
    assert status == 1
    assert out.startswith("text: step 2: timebucket-2025 differs (timebucket-ideal)\n")
    assert out.splitlines()[-1] == "1 of 3 steps agreed"
    told = document(cli("replay", BAD, "--subject", "timebucket-2025", "--json"))
    (found,) = told["disagreements"]
    assert (told["steps"], told["agreed"]) == (3, 1)
    assert (found["who"], found["step"], found["observed"]) == ("timebucket-2025", 2, "count")
    assert (found["expected"], found["seen"]) == (1, 2)


def test_ids_are_not_taken_for_times(cli: Cli) -> None:
    status, out, _ = cli("replay", f"add {2**63 - 5} {2**48} +2000; adv 2000; get 1", "--subject", "heap")
    assert status == 1
    assert f"[[{2**63 - 5} {2**48}]]" in out or "armed" in out
    _, out, _ = cli("replay", f"delayed-delivery heap; add {2**63 - 5} {2**48} +2000; adv 2000; get 1")
    assert f"[[{2**63 - 5} {2**48}]], count 0 messages, armed []" in out


def test_reduce_ends_in_1_with_a_finding(cli: Cli) -> None:
    told = document(cli("reduce", BAD, "--subject", "timebucket-2025", "--json"))
    assert "DD-11" in told["rules"]
    assert len(told["operations"]) == 2
    assert told["seed"] is None


@pytest.mark.parametrize("name", refresh.STORIES)
def test_what_is_printed_is_as_committed(name: str) -> None:
    """`python tests/refresh.py` writes it, where it is meant to change."""
    assert refresh.printed(name) == (refresh.EXPECTED / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.slow
def test_printed_replay_line_replays(cli: Cli) -> None:
    import shlex

    line = refresh.printed("one-too-many").splitlines()[-1]
    status, out, _ = cli(*shlex.split(line)[1:])
    assert status == 1
    assert "kit:OneTooMany differs (timebucket-ideal)" in out


# ---- rules and subjects


def test_rule_of_another_profile_alone_is_told(cli: Cli) -> None:
    status, out, err = cli("rules", "EC-60")
    assert (status, err) == (0, "")
    assert "clauses   passes.taken_from" in out
    families = "EC-01 to EC-66, EC-P3 to EC-P18, IL-1 to IL-15, RC-01 to RC-14"
    line = f"broker-tck: unknown rule 'EC-60' of entry-cache; there are {families}\n"
    assert cli("rules", "EC-60", "--profile", "pip-430") == (2, "", line)


@pytest.mark.slow
def test_rules_are_listed(cli: Cli) -> None:
    status, out, err = cli("rules")
    assert (status, err) == (0, "")
    assert all(rule.number in out for rule in rules_of(MODEL))
    told = document(cli("rules", "--json"))
    assert [rule["number"] for rule in told["rules"]] == [rule.number for rule in rules_of(MODEL)]
    assert {rule["strength"] for rule in told["rules"]} == {"required", "invariant", "informative"}
    heap = document(cli("rules", "--profile", "heap", "--json"))
    assert {rule["strength"] for rule in heap["rules"]} == {
        "required",
        "invariant",
        "informative",
        "deviation",
        "not applicable",
    }


def test_rule_is_told_in_full(cli: Cli) -> None:
    status, out, _ = cli("rules", "DD-06", "DD-09")
    assert status == 0
    assert out.count("  look at   ") == 2
    assert "  clauses   refuses\n" in out
    assert "    'equality accepted'\n" in out


def test_subjects_are_listed(cli: Cli) -> None:
    status, out, _ = cli("subjects")
    assert status == 0
    assert "entry_id_bits=32, memory_estimate=true, jumps=true," in out
    told = document(cli("subjects", "--json"))
    known = {s["subject"]: s for s in told["subjects"]}
    assert [*known][:9] == [*TRACKERS, "pulsar-3.0.7/in-memory"]
    assert known["pulsar-5.0.1/in-memory"] == {
        "subject": "pulsar-5.0.1/in-memory",
        "profiles": ["timebucket-5.0"],
        "capabilities": {"memory_estimate": False, "shows_kept": False},
        "source": "released class InMemoryDelayedDeliveryTracker",
    }


class Entry:
    """An entry point."""

    def __init__(self, name: str, loaded: Any) -> None:
        self.name, self.value, self.loaded = name, f"somewhere:{name}", loaded

    def load(self) -> Any:
        if isinstance(self.loaded, Exception):
            raise self.loaded
        return self.loaded


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {e.name: e for e in (Entry("fine", kit.OneTooMany), Entry("lost", ImportError("no module")))}
    for module in ("properties.engine.subjects", "cli.subjects"):
        monkeypatch.setattr(f"broker_tck.{module}.plugged_in", lambda: found)


@pytest.mark.usefixtures("entries")
def test_subjects_of_other_packages_are_found(cli: Cli) -> None:
    status, out, err = cli("subjects")
    assert status == 0
    assert "somewhere:fine" in out
    assert err == "broker-tck: the entry point 'lost' cannot be loaded: no module\n"
    assert cli("reduce", "get 0", "--subject", "fine")[0] in (1, 2)
    assert cli("check", "--subject", "lost")[::2] == (
        2,
        "broker-tck: the entry point 'lost' cannot be loaded: no module\n",
    )


# ---- Lines of findings


@pytest.mark.slow
def test_line_of_a_finding_about_a_invariant_judges_the_invariant(cli: Cli) -> None:
    finding = deviation(resolve("timebucket-2025"), "timebucket-2025", "DD-08", 0)
    assert finding
    words = shlex.split(replay_command(finding))[1:]
    status, out, err = cli(*words)
    assert (status, err) == (1, "")
    assert re.fullmatch(r"text: DD-08: timebucket-2025 breaks it at step \d+: .+\n", out)
    assert document(cli(*words, "--json"))["judged"][0]["subject"] == "timebucket-2025"
    kept = [word if word.startswith("delayed") else word.replace("timebucket-2025", "time-bucket") for word in words]
    assert cli(*kept) == (0, "text: DD-08: time-bucket keeps it\n", "")


def test_work_is_done_in_parallel_in_its_order() -> None:
    assert in_parallel(abs, [-3, 2, -1], None) == [3, 2, 1]


# ---- init


@pytest.mark.parametrize(
    ("name", "project", "module", "factory"),
    [
        ("lag-aware", "lag-aware", "lag_aware", "LagAware"),
        ("DelayQueue2", "delay-queue2", "delay_queue2", "DelayQueue2"),
    ],
)
def test_init_writes_a_plug_in_of_this_name(
    cli: Cli, tmp_path: Path, name: str, project: str, module: str, factory: str
) -> None:
    folder = tmp_path / "new" / name
    status, out, err = cli("init", folder)
    assert (status, err) == (0, "")
    texts = {file.name: file.read_text() for file in folder.iterdir()}
    assert sorted(texts) == sorted([f"{module}.py", f"test_{module}.py", "pyproject.toml"])
    assert f"class {factory}:" in texts[f"{module}.py"]
    assert f'test_{module} = conformance("delayed-delivery", {factory})' in texts[f"test_{module}.py"]
    told = tomllib.loads(texts["pyproject.toml"])
    assert told["project"]["name"] == project
    assert told["project"]["entry-points"]["broker_tck.subjects"] == {project: f"{module}:{factory}"}
    assert told["tool"]["broker-tck"]["subjects"] == [f"{module}:{factory}"]
    assert told["tool"]["setuptools"]["py-modules"] == [module]
    assert not re.search(r"[$]|(?i:my.?tracker)", "".join(texts.values()))
    assert out.splitlines()[-1].startswith("next: cd ")


@pytest.mark.slow
@pytest.mark.parametrize("contract", [name for name in CONTRACTS if name != "delayed-delivery"])
def test_init_writes_a_subject_of_any_contract(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, contract: str
) -> None:
    folder = tmp_path / "mine"
    status, out, err = cli("init", folder, "--contract", contract)
    assert (status, err) == (0, "")
    kind = KINDS[contract]
    assert out.startswith(f"wrote {folder / 'mine.py'}, {folder / 'test_mine.py'}, ")
    code = compile((folder / "mine.py").read_text(), "written", "exec")
    module = ModuleType("mine")
    exec(code, vars(module))
    factory = vars(module)["Mine"]
    for protocol in kind.protocols:
        for name, method in methods(protocol):
            assert inspect.signature(getattr(factory, name)) == inspect.signature(method)
            assert inspect.getdoc(getattr(factory, name)) == inspect.getdoc(method)
    subject = declared("written", factory)
    run = Run(subject, subject.profiles[0], 0)
    assert not [done.difference for done in checked(run, range(12), judged=6) if done.difference]
    assert run.operations > 500
    monkeypatch.setitem(sys.modules, "mine", module)
    test = runpy.run_path(str(folder / "test_mine.py"))["test_mine"]
    (mark,) = test.pytestmark
    assert f"{subject.profiles[0]}-walks" in {case.id for case in mark.args[1]}


# ---- What a shell offers


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("chec", ["check"]),
        ("check --subject hea", ["heap"]),
        ("check --contract act", ["active-cursors"]),
        ("check --rule cc-11", ["CC-11"]),
        ("replay --profile pip-393-s", ["pip-393-spec"]),
        ("rules dd-0", [f"DD-0{n}" for n in range(1, 10)]),
        ("prove --mistake empty-se", ["empty-set-called-back"]),
    ],
)
def test_names_are_completed(words: str, offered: list[str]) -> None:
    *before, written = words.split()
    found = ShellComplete(group, {}, "broker-tck", "_BROKER_TCK_COMPLETE").get_completions(before, written)
    assert [each.value for each in found] == offered


# ---- How it ends


def test_interrupt_ends_in_130(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(tasks: Any, *rest: Any) -> Iterator[Any]:
        yield from run_all(tasks[:1], *rest)
        raise KeyboardInterrupt

    monkeypatch.setattr(checking, "run_all", interrupted)
    few = "--walks", "1", "--examples", "0"
    status, out, err = cli("check", "--subject", "heap", "--subject", "time-bucket", *few, "--json")
    assert (status, err) == (130, "broker-tck: 1 of 2 were checked\n\nbroker-tck: interrupted\n")
    told = json.loads(out)
    assert (told["interrupted"], told["conform"], len(told["subjects"])) == (True, False, 1)


def test_failure_of_the_kit_ends_in_3(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*arguments: Any) -> None:
        raise ZeroDivisionError("the kit's own")

    monkeypatch.setattr(made, "check_subject", failing)
    status, out, err = cli("check", "--subject", "heap")
    assert (status, out) == (3, "")
    assert "ZeroDivisionError: the kit's own" in err
    assert err.splitlines()[-1] == "broker-tck: the kit failed; the traceback above shows where"


def test_rules_are_found_in_lower_case(cli: Cli) -> None:
    assert cli("rules", "ec-60", "dd-06")[2].startswith("broker-tck: unknown rule 'EC-60' of delayed-delivery; ")
    assert cli("rules", "ec-01")[1] == cli("rules", "EC-01")[1]
    told = cli("replay", "has", "--subject", "heap", "--invariant", "dd-08")
    assert told == cli("replay", "has", "--subject", "heap", "--invariant", "DD-08")
    assert told[0] == 0


def test_module_is_the_command_line() -> None:
    code = "import broker_tck, sys; print(broker_tck.__version__, len([m for m in sys.modules if 'broker_tck.' in m]))"
    assert python("-c", code).stdout == f"{fingerprint.kit_version()} 0\n"
    done = python("-m", "broker_tck", "rules", "DD-99")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("broker-tck: unknown rule 'DD-99' ")


def test_progress_is_a_line_each_ten_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "FIRST", FIRST)
    times = iter([0.0, 1.9, 2.0, 11.9, 12.5, 13.0, 99.0])
    with output.progress(1000, "checking", "walks", clock=lambda: next(times)) as tell:
        for done in (100, 120, 500, 600, 700, 1000):
            tell(done, "heap" if done < 600 else "heap\nslow")
    lines = ["checking: 120 of 1,000 walks, heap", "checking: 600 of 1,000 walks, heap, slow"]
    assert capsys.readouterr() == ("", "".join(f"{line}\n" for line in lines))


def test_progress_on_a_terminal_prints_brackets_as_they_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    threads = threading.active_count()
    with output.progress(3, "work [a]", "steps") as tell:
        tell(2, "one [b]")
        assert threading.active_count() == threads, "the process may fork"
    out, told = capsys.readouterr()
    assert "work [a]" in told
    assert "2 of 3 steps, one [b]" in told
    assert out == ""
