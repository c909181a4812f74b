"""Subjects that are programs of any language: what is checked of them, and what becomes of those that misbehave."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from select import select
from subprocess import run

import jsonschema
import pytest
import refresh
from conftest import Cli
from kit import PATIENCE, ROOT, python

from broker_tck import fixtures
from broker_tck.implementations import programs
from broker_tck.implementations.jvm.jars import FOLDER
from broker_tck.implementations.programs import RUNNING, end_all
from broker_tck.model.reference import UNDEFINED
from broker_tck.properties.engine.check import first_difference, record
from broker_tck.properties.engine.program import Spoken
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.schema import protocol_schema
from broker_tck.properties.engine.subjects import Subject, resolve
from broker_tck.properties.engine.trace import from_text
from broker_tck.properties.engine.walk import walk, walk_seed
from broker_tck.properties.errors import BadInput
from broker_tck.properties.search.isolation.unloaded import resolve_unloaded
from broker_tck.spark_fuzz.driver.fingerprint import subject_digest

SPEAKING = ROOT / "tests" / "speaking.py"
EXAMPLE = ROOT / "examples" / "any-language" / "adapter.py"
HELLO = {"protocol": 1, "contract": "delayed-delivery", "profiles": ["timebucket-ideal"], "levels": ["traces"]}
TRACE = "delayed-delivery; add 1 0 +2000; adv 2000; get 10"
OF_EACH_CONTRACT = {
    "delayed-delivery": "heap",
    "negative-acks": "sorted-buckets",
    "active-cursors": "cursor-heap",
    "entry-cache": "stepwise-queue",
    "bucket-delivery": "bucket",
    "topic-delivery": "shared-index",
    "ack-timeout": "timing-wheel",
}


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(programs, "PATIENCE", 0.2)
    yield
    end_all()


@pytest.fixture
def quickly() -> Iterator[None]:
    """Limits so small that only a test of a program that goes beyond them may have them."""
    with refresh.quickly():
        yield


def named(program: Path, *words: str) -> str:
    """The name of a program in Python as a subject. It must not be measured: that takes memory, and prints."""
    unmeasured = () if program == SPEAKING else ("-S",)
    return f"exec:{shlex.join([sys.executable, *unmeasured, str(program), *words])}"


def saying(folder: Path, body: str, **hello: object) -> str:
    """The name of a program that says what it is, and then has ``message`` and ``say`` in each line of a body."""
    file = folder / "program.py"
    lines = [f"    {line}" for line in body.splitlines()]
    file.write_text(
        "import json, os, signal, sys, time, threading\n"
        "def say(message): print(json.dumps(message), flush=True)\n"
        f"say(json.loads({json.dumps({**HELLO, **hello})!r}))\n"
        "sys.stdin.readline()\n"
        "for message in map(json.loads, sys.stdin):\n" + "\n".join(["    if type(message) is dict: continue", *lines])
    )
    return named(file)


# ---- What works


@pytest.mark.parametrize(
    ("contract", "level"), [*((name, "traces") for name in CONTRACTS), ("negative-acks", "operations")]
)
def test_walks_of_a_program_are_those_of_the_subject_in_it(contract: str, level: str) -> None:
    inside = resolve(OF_EACH_CONTRACT[contract])
    program = resolve(named(SPEAKING, inside.name, level))
    assert (program.contract.name, program.profiles) == (contract, inside.profiles)
    model = program.contract.model(program.profiles[0])
    done = walk(program.contract, walk_seed(0, 0), program.adapter, model, program.capabilities)
    assert done.difference is None
    assert record(done.operations, program.fresh(done.config)) == record(done.operations, inside.fresh(done.config))


@pytest.mark.parametrize(("declared", "threads"), [({}, False), ({"threads": True, "shows_kept": True}, True)])
def test_capabilities_of_programs(tmp_path: Path, declared: dict[str, bool], threads: bool) -> None:
    name = saying(tmp_path, "", contract="negative-acks", profiles=["pip-393-spec"], capabilities=declared)
    capabilities = resolve(name).capabilities
    assert (capabilities.threads, capabilities.shows_kept, capabilities.backoff) == (threads, False, True)


@pytest.mark.slow
def test_example_conforms(cli: Cli) -> None:
    status, out, _ = cli("check", "--subject", named(EXAMPLE), "--examples", "1", "--json")
    (checked,) = json.loads(out)["subjects"]
    assert (status, checked["verdict"]) == (0, "conforms")


def test_conversation_of_the_page_is_the_example_s() -> None:
    page = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"<!-- spoken -->\n```text\n(.*?)```", page, flags=re.DOTALL)
    read, written = ("".join(f"{line[2:]}\n" for line in block.splitlines() if line[0] == who) for who in "><")
    done = run([sys.executable, EXAMPLE, "operations"], check=True, input=read, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (written, "")


def test_files_of_a_command_are_brought(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    (here / "adapter").write_text("#!/bin/sh\n")
    monkeypatch.chdir(here)
    assert Spoken("./adapter --flag").files() == [Path("adapter")]
    assert Spoken("python adapter").files() == [Path("adapter")]
    assert Spoken("adapter").files() == []
    (here / "adapter").rename(there / "adapter")
    assert Spoken("./adapter --flag").words == ["./adapter", "--flag"]
    monkeypatch.setenv(FOLDER, str(there))
    assert Spoken("./adapter --flag").words == [str(there / "adapter"), "--flag"]
    assert os.access(there / "adapter", os.X_OK)


def test_replay_and_a_campaign_run_it(cli: Cli, tmp_path: Path) -> None:
    status, out, _ = cli("replay", TRACE, "--subject", named(EXAMPLE))
    assert (status, out.splitlines()[-1]) == (0, "3 of 3 steps agreed")
    store = tmp_path / "store"
    words = "--operations", "4000", "--shards", "1", "--executor", "processes"
    status, _, err = cli("fuzz", "--subject", named(EXAMPLE), "--store", store, *words)
    assert status in (0, 4), err


def test_table_of_a_project_names_it(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.broker-tck]\nsubjects = [{json.dumps(named(EXAMPLE))}]\n")
    monkeypatch.chdir(tmp_path)
    status, out, _ = cli("check", "--walks", "2", "--examples", "0")
    assert (status, "NOT ENOUGH" in out) == (4, True)


def test_broken_program_is_told_its_rule(cli: Cli, tmp_path: Path) -> None:
    body = "say([message[0] in ('has', 'pause', 'stale') or None, 0, []])"
    status, out, _ = cli("check", "--subject", saying(tmp_path, body), "--walks", "5", "--examples", "0", "--fail-fast")
    assert (status, "is broken by exec:" in out) == (1, True)


@pytest.mark.parametrize("count", ["False", "0.0", "None"])
def test_count_is_a_whole_number(tmp_path: Path, count: str) -> None:
    subject = resolve(saying(tmp_path, f"say([False, {count}, []])"))
    config = subject.contract.config()
    found = first_difference(from_text("has").operations, subject.contract.specification(config), subject.fresh(config))
    assert found
    assert found[1].observed == 0


@pytest.mark.parametrize("level", ["operations", "traces"])
def test_times_in_a_list_are_whole_numbers(tmp_path: Path, level: str) -> None:
    trace = from_text(TRACE)
    contract = CONTRACTS["delayed-delivery"]
    (step,) = record(trace.operations[:1], contract.specification(trace.config))
    count, armed = step.seen
    subject = resolve(saying(tmp_path, f"say([True, {count}, {[*map(float, armed)]}])", levels=[level]))
    found = first_difference(trace.operations, contract.specification(trace.config), subject.fresh(trace.config))
    assert found
    assert (found[0], found[1].observed) == (0, 1)
    assert [*map(type, found[1].seen)] == [float]


@pytest.mark.parametrize(
    ("contract", "lacked", "open_ones"),
    [
        ("delayed-delivery", "memory_estimate", []),
        ("topic-delivery", "memory_estimate", ["memory"]),
        ("topic-delivery", "shows_index", ["index"]),
        ("bucket-delivery", "shows_buckets", ["buckets", "queues"]),
    ],
)
def test_only_a_capability_leaves_an_observable_open(
    tmp_path: Path, contract: str, lacked: str, open_ones: list[str]
) -> None:
    names = [*CONTRACTS[contract].observables]
    for able in (False, True):
        body = f"say([None, *['anything'] * {len(names)}])"
        declared = {"contract": contract, "profiles": [CONTRACTS[contract].default], "capabilities": {lacked: able}}
        adapter = resolve(saying(tmp_path, body, **declared)).fresh(CONTRACTS[contract].config())
        (operation,) = from_text(f"{contract}; adv 1").operations
        (step,) = record([operation], adapter)
        for name, seen in zip(names, step.seen, strict=True):
            assert (seen is UNDEFINED) == (name in open_ones and not able)


def test_messages_are_as_the_schema_says(tmp_path: Path) -> None:
    schema = json.loads(fixtures.protocol_schema().read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema == json.loads(json.dumps(protocol_schema())), "run python tests/refresh.py"
    name = saying(tmp_path, "say([None, 0, []])")
    file = tmp_path / "program.py"
    keep = f"open({str(tmp_path / 'header')!r}, 'w').write(json.dumps(message)); continue"
    file.write_text(file.read_text().replace("continue", keep))
    program = resolve(name)
    record(from_text(TRACE).operations, program.fresh(program.contract.config()))
    header = json.loads((tmp_path / "header").read_text())
    for kind, message in (("hello", HELLO), ("welcome", {"protocol": 1, "level": "traces"}), ("header", header)):
        jsonschema.validate(message, {**schema, "$ref": f"#/$defs/{kind}"})
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**message, "protocol": 2, "version": 2}, {**schema, "$ref": f"#/$defs/{kind}"})


# ---- What is not the protocol: one line, and exit status 2


def refused(cli: Cli, name: str) -> str:
    """What the command says of a subject that it cannot check."""
    status, out, err = cli("check", "--subject", name, "--walks", "2", "--examples", "0")
    (line,) = (line for line in err.splitlines() if not line.startswith("checking: "))
    assert (status, out) == (2, "")
    assert line.startswith(f"broker-tck: {name}: ")
    return line.removeprefix(f"broker-tck: {name}: ")


def test_what_cannot_be_run(cli: Cli, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("no program")
    assert refused(cli, "exec:./there-is-none") == "./there-is-none: no such program"
    assert refused(cli, f"exec:{plain}") == f"{plain}: cannot be run: Permission denied"
    plain.chmod(0o755)
    assert refused(cli, f"exec:{plain}") == f"{plain}: cannot be run: Exec format error"
    assert refused(cli, "exec:") == "a command must follow, such as exec:./my-adapter"
    assert refused(cli, "exec:a 'b") == "the command cannot be read: No closing quotation"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("import sys; sys.exit('no file')", "it ended its process with status 1 before it said what it is: no file"),
        ("import os; os.close(1); input()", "it ended its process with status 1 before it said what it is"),
        ("print('{\"protocol\":2}'); input()", "it speaks protocol 2; this kit speaks 1"),
        (
            "print('hello'); input()",
            "it began with 'hello', which is not JSON; standard output belongs to the protocol",
        ),
        ("print('{\"protocol\":1}')", "Object missing required field `contract`"),
    ],
)
def test_what_a_program_says_first(cli: Cli, tmp_path: Path, body: str, why: str) -> None:
    file = tmp_path / "program.py"
    file.write_text(body)
    assert why in refused(cli, named(file))


@pytest.mark.parametrize(
    ("hello", "why"),
    [
        ({"contract": "delayed"}, "unknown contract 'delayed'; there are: delayed-delivery,"),
        ({"profiles": ["ideal"]}, "unknown profile 'ideal'"),
        ({"profiles": []}, "Expected `array` of length >= 1"),
        ({"capabilities": {"flies": True}}, "its capabilities are not those of delayed-delivery"),
        ({"levels": ["calls"]}, "it offers none of the levels operations and traces"),
    ],
)
def test_what_a_program_says_of_itself(cli: Cli, tmp_path: Path, hello: dict[str, object], why: str) -> None:
    name = saying(tmp_path, "", **hello)
    file, told = tmp_path / "program.py", tmp_path / "told"
    file.write_text(file.read_text().replace("sys.stdin.readline()", f"open({str(told)!r}, 'w').write(input())"))
    assert why in refused(cli, name)
    assert why in json.loads(told.read_text())["error"]


def test_own_version_of_a_program_is_in_a_campaigns_fingerprint(tmp_path: Path) -> None:
    one, other = (subject_digest(resolve_unloaded(saying(tmp_path, "", software=f"tracker {n}"))) for n in (1, 2))
    assert re.fullmatch("[0-9a-f]{16} tracker 1", one)
    assert other[:16] != one[:16]


def test_program_of_another_contract_than_is_asked_for(tmp_path: Path) -> None:
    name = saying(tmp_path, "")
    with pytest.raises(BadInput, match="it implements delayed-delivery, not negative-acks"):
        resolve(name, CONTRACTS["negative-acks"])


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("say([True])", "with '[true]'; there must be 3 values: result, count, armed"),
        ("say([True, 0, [], []])", "with '[true, 0, [], []]'; there must be 3 values: result, count, armed"),
        ("say(True)", "with 'true'; there must be 3 values: result, count, armed"),
        ("say([{}])", "with '[{}]', which is not of the protocol: Object missing required field `error`"),
        ("say([{}, 0, []])", "with '[{}, 0, []]', which is not of the protocol: Object missing required field `error`"),
        ("say([{'error': 5}])", "which is not of the protocol: Expected `str`, got `int` - at `$.error`"),
        ("say([{'error': ''}])", "which is not of the protocol: Expected `str` of length >= 1 - at `$.error`"),
        ("say([{'error': 'E', 'message': 1}])", "which is not of the protocol: Expected `str`, got `int`"),
        ("print('adding', flush=True)", "with 'adding', which is not JSON; standard output belongs to the protocol"),
        ("sys.stdout.buffer.write(b'[\\xff]\\n'); sys.stdout.flush()", "with '[\\xff]', which is not JSON"),
    ],
)
def test_answers_that_are_none(cli: Cli, tmp_path: Path, body: str, why: str) -> None:
    assert why in refused(cli, saying(tmp_path, body))


def test_answers_that_nobody_asked_for(tmp_path: Path) -> None:
    subject = resolve(saying(tmp_path, "say([None, 0, []]); time.sleep(0.01); message == ['clear'] and say(1)"))
    record(from_text("clear").operations, subject.fresh(subject.contract.config()))
    while subject.factory.program.line(time.monotonic() + 5) is None:
        pass
    subject.factory.program.lines.append(b"1")
    with pytest.raises(BadInput, match="it wrote '1' unasked"):
        subject.fresh(subject.contract.config())


# ---- What it does in the middle of a trace: a finding at its operation


def found(cli: Cli, name: str) -> tuple[str, str, str]:
    """How a finding says that there was no answer, at which operation, and what the program said last."""
    words = "--walks", "3", "--examples", "0", "--fail-fast", "--json"
    status, out, _ = cli("check", "--subject", name, *words)
    (checked,) = json.loads(out)["subjects"]
    (finding,) = checked["findings"][:1]
    assert status == 1
    last = finding["operations"][-1][0]
    return "{error}: {message}".format(**finding["seen"]), last, " ".join(finding["traceback"])


ANSWER = "say([{'adv': [], 'get': [], 'fill': 0, 'memory': 0}.get(message[0]), 0, []])"


@pytest.mark.parametrize(
    ("does", "seen"),
    [
        ("print('panic', file=sys.stderr, flush=True); os._exit(2)", "Exited: it ended its process with status 2"),
        ("print('panic', file=sys.stderr, flush=True); os.abort()", "Killed: its process died of SIGABRT"),
        ("print('panic', file=sys.stderr, flush=True); os.close(1)", "Exited: it closed its standard output"),
    ],
)
def test_program_ends_in_the_middle_of_a_trace(cli: Cli, tmp_path: Path, does: str, seen: str) -> None:
    name = saying(tmp_path, f"if message[0] == 'has':\n    {does}\n    time.sleep(100)\nsay([False, 0, []])")
    assert found(cli, name) == (seen, "has", "panic")


@pytest.mark.parametrize("level", ["operations", "traces"])
def test_program_that_reads_nothing_ends_at_the_first_operation(tmp_path: Path, level: str) -> None:
    """The pipe is broken when the kit writes."""
    name = saying(tmp_path, "", levels=[level])
    file = tmp_path / "program.py"
    file.write_text(file.read_text().replace("sys.stdin.readline()", "os.close(0); time.sleep(0.2); os._exit(5)"))
    subject = resolve(name)
    trace = from_text("delayed-delivery; fill 1 0 1 9 +2000; adv 1; get 1")
    model = subject.contract.specification
    for _ in range(2):  # the next trace gets a new process
        adapter = subject.fresh(trace.config)
        select([], [], [], 0.3)
        at, difference = first_difference(trace.operations, model(trace.config), adapter) or (9, None)
        assert (at, difference and difference.seen) == (
            0,
            {"error": "Exited", "message": "it ended its process with status 5"},
        )


@pytest.mark.slow
@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("does", ["while True: pass", "lock = threading.Lock(); lock.acquire(); lock.acquire()"])
def test_program_that_hangs(cli: Cli, tmp_path: Path, does: str) -> None:
    name = saying(tmp_path, f"if message[0] == 'has':\n    {does}\nsay([False, 0, []])")
    assert found(cli, name)[:2] == ("Hang: no answer within the limit", "has")


def test_hang_that_the_program_tells_of(tmp_path: Path) -> None:
    subject = resolve(saying(tmp_path, "say([{'error': 'Hang'}, 0, []])"))
    model = subject.contract.specification(subject.contract.config())
    found = first_difference(from_text("has").operations, model, subject.fresh(subject.contract.config()))
    assert found
    assert found[1].seen == {"error": "Hang", "message": "no answer within the limit"}


@pytest.mark.parametrize(("name", "read"), [("TypeError", "TypeError"), ("Type\0Error", "Type\\0Error")])
def test_error_alone_is_an_answer(tmp_path: Path, name: str, read: str) -> None:
    subject = resolve(saying(tmp_path, f"say([{{'error': {name!r}, 'message': 'no'}}])"))
    config = subject.contract.config()
    (step,) = record(from_text("has").operations, subject.fresh(config))
    assert (step.result, step.seen) == ({"error": read}, (None, None))


@pytest.mark.slow
@pytest.mark.usefixtures("quickly")
def test_program_that_takes_too_much_memory(cli: Cli, tmp_path: Path) -> None:
    name = saying(tmp_path, "held = []\nwhile True: held.append(bytearray(2**24))")
    assert found(cli, name)[0] == "MemoryError: it takes too much memory"


def test_program_is_not_under_the_kits_limit_of_memory(cli: Cli, tmp_path: Path) -> None:
    import_ = "import resource; limit = resource.getrlimit(resource.RLIMIT_AS)"
    body = f"{import_}\nopen({str(tmp_path / 'limit')!r}, 'w').write(str(limit[0] == limit[1]))\n{ANSWER}"
    cli("check", "--subject", saying(tmp_path, body), "--walks", "1", "--examples", "0", "--fail-fast")
    assert (tmp_path / "limit").read_text() == "True"


# ---- Nothing is left


def alive(pid: int) -> bool:
    """Whether a process is there, and not only waited for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pids: list[int]) -> bool:
    """Whether processes end at last."""
    until = time.monotonic() + PATIENCE
    while any(map(alive, pids)) and time.monotonic() < until:
        select([], [], [], 0.02)
    return not any(map(alive, pids))


def noting(folder: Path, body: str) -> str:
    """The name of a program that writes down its process's number and that of one that it starts."""
    first = (
        f"import subprocess\nnoted = open({str(folder / 'pids')!r}, 'a')\n"
        "child = subprocess.Popen(['sleep', '1000'], stdin=subprocess.DEVNULL)\n"
        "print(os.getpid(), child.pid, file=noted, flush=True)"
    )
    name = saying(folder, body)
    file = folder / "program.py"
    file.write_text(file.read_text().replace("sys.stdin.readline()", first + "\nsys.stdin.readline()"))
    return name


def test_program_may_end_by_itself(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "PATIENCE", PATIENCE)
    name = saying(tmp_path, ANSWER)
    file, note = tmp_path / "program.py", tmp_path / "ended"
    file.write_text(f"{file.read_text()}\ntime.sleep(0.05)\nopen({str(note)!r}, 'a').write('ended ')\n")
    cli("check", "--subject", name, "--walks", "1", "--examples", "0", "--fail-fast")
    assert note.read_text() == "ended ended "  # once it has said what it is, and once it is checked


@pytest.mark.parametrize("after", ["", "\ntime.sleep(1000)", "\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)"])
def test_nothing_is_left_of_a_check(cli: Cli, tmp_path: Path, after: str) -> None:
    name = noting(tmp_path, ANSWER)
    file = tmp_path / "program.py"
    file.write_text(file.read_text() + "\n" + after.strip())
    cli("check", "--subject", name, "--walks", "1", "--examples", "0", "--fail-fast")
    pids = [int(word) for word in (tmp_path / "pids").read_text().split()]
    assert pids
    assert gone(pids)


def test_nothing_is_left_if_the_kit_is_killed(tmp_path: Path) -> None:
    name = noting(tmp_path, "while True: pass")
    code = f"""
import os, pathlib, signal, time
from broker_tck.properties.engine.check import record
from broker_tck.properties.engine.subjects import resolve
from broker_tck.properties.engine.trace import from_text
subject = resolve({name!r})
adapter = subject.fresh(subject.contract.config())
adapter._write(from_text("has").operations)
noted = pathlib.Path({str(tmp_path / "pids")!r})
while not noted.exists() or len(noted.read_text().split()) < 2:
    time.sleep(0.01)
os.kill(os.getpid(), signal.SIGKILL)
"""
    python("-c", code)
    pids = [int(word) for word in (tmp_path / "pids").read_text().split()]
    try:
        assert gone(pids[:1])
    finally:
        for pid in pids:
            if alive(pid):
                os.kill(pid, 9)


def test_fork_starts_its_own(tmp_path: Path) -> None:
    subject: Subject = resolve(named(EXAMPLE))
    trace = from_text(TRACE)
    expected = record(trace.operations, subject.fresh(trace.config))
    pid = os.fork()
    if not pid:
        again = record(trace.operations, subject.fresh(trace.config))
        os._exit(int(again != expected or subject.factory.program.started_by != os.getpid()))
    assert os.waitpid(pid, 0)[1] == 0
    assert record(trace.operations, subject.fresh(trace.config)) == expected
    assert len(RUNNING) == 1
