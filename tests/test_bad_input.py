"""What bad input gets: one line on standard error, which says what was wrong and where, and exit status 2."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from conftest import Cli

from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker

NAMES = "delayed-delivery, negative-acks, active-cursors, entry-cache, bucket-delivery, topic-delivery, ack-timeout"
PROFILES = (
    "timebucket-ideal, timebucket-2026, timebucket-5.0, timebucket-5.0-M1, timebucket-2025, timebucket-4.0.4, "
    "timebucket-4.0.1, heap"
)
TRIED = "3.0.7, 4.0.0, 4.0.1, 4.0.5, 4.0.8, 4.1.1, 4.2.4, 5.0.0-M1, 5.0.1"
OPERATIONS = "add, fill, has, get, pause, tick, adv, jump, stale, memory, clear, close"
GOOD = {"version": 1, "contract": "delayed-delivery", "profile": "heap", "config": {}, "steps": [["has"]]}
REMOVE = {"contract": "entry-cache", "profile": "ideal", "steps": [["remove", 0, 0, 0, 0, 0, True]]}
TEXT = "and not the text of a trace ('add 1 0 +2000; get 1')"


class Case(NamedTuple):
    name: str
    arguments: str | list[str]
    line: str
    """After the program's name; ``~`` stands for what a library says in words of its own."""
    content: Any = None
    """What is in the file ``t``, if there is one."""


def trace(name: str, line: str, change: dict[str, Any] | str | bytes) -> Case:
    """A trace file that is replayed."""
    content = json.dumps(GOOD | change) if isinstance(change, dict) else change
    return Case(name, "replay t", line, content)


def text(name: str, line: str, words: str) -> Case:
    """A text that is replayed."""
    return Case(name, ["replay", words], line)


def subject(name: str, line: str) -> Case:
    """A factory in module ``odd``, see below."""
    return Case(f"subject {name}", f"check --subject odd:{name}", f"odd:{name}: {line}")


class Badly:
    """Factories that declare what there is not."""

    Number = 5
    Text = type("Text", (TimeBucketTracker,), {"profiles": "heap"})
    Unknown = type("Unknown", (TimeBucketTracker,), {"profiles": ("legacy-java",)})
    Other = type("Other", (TimeBucketTracker,), {"contract": "redelivery"})
    Wide = type("Wide", (TimeBucketTracker,), {"capabilities": {"entry_id_bits": 128}})
    Loose = type("Loose", (TimeBucketTracker,), {"capabilities": 7})


CASES = [
    # Arguments
    Case(
        "command",
        "chek",
        "unknown command 'chek'; did you mean 'check'? There are: bench, check, classpath, compare, fuzz, init, "
        "interleave, prove, pulsar, reduce, replay, report, rules, subjects, threads, walk, watch",
    ),
    Case("threads without subject", "threads", "Missing option '--subject' (see `broker-tck threads --help`)"),
    Case(
        "threads of Python",
        "threads --subject removal-queue",
        "removal-queue: threads call only classes of a release, such as pulsar-5.0.1/range-cache, and boxes of your "
        "own",
    ),
    Case(
        "number of seconds",
        "threads --subject removal-queue --seconds 0",
        "Invalid value for '--seconds': 0.0 is not in the range x>0 (see `broker-tck threads --help`)",
    ),
    Case("command of bench", "bench x", "unknown command 'x'; there are: walks"),
    Case("option", "check --walk", "No such option '--walk'~(see `broker-tck check --help`)"),
    Case("argument", "check x", "Got unexpected extra argument (x) (see `broker-tck check --help`)"),
    Case("no argument", "replay", "Missing argument 'FILE|TEXT|DIR...' (see `broker-tck replay --help`)"),
    Case("no subject", "reduce has", "Missing option '--subject' (see `broker-tck reduce --help`)"),
    Case(
        "number",
        "check --walks many",
        "Invalid value for '--walks': 'many' is not a whole number (see `broker-tck check --help`)",
    ),
    # Names
    Case(
        "contract",
        "check --contract topic",
        f"unknown contract 'topic'; there are: {NAMES}",
    ),
    Case("profile", "check --profile x", f"unknown profile 'x' of delayed-delivery; there are: {PROFILES}"),
    Case(
        "subject mistyped",
        "check --subject time_bucket",
        "unknown subject 'time_bucket'; did you mean 'time-bucket'? ~",
    ),
    Case(
        "invariant mistyped",
        "replay has --subject heap --invariant shfit",
        "unknown invariant 'shfit' of delayed-delivery; did you mean 'shift'? There are: ~",
    ),
    Case(
        "life mistyped",
        "walk --subject sorted-cursors --workload whle",
        "unknown workload 'whle' of active-cursors; did you mean 'whole'? There are: whole",
    ),
    Case(
        "scenario mistyped",
        "interleave --subject stepwise-queue --scenario insertion",
        "unknown scenario 'insertion'; did you mean 'insertions'? There are: ~",
    ),
    Case("rule", "rules DD-06 DD-99", "unknown rule 'DD-99' of delayed-delivery; there are DD-01 to DD-41"),
    Case(
        "subject of another contract",
        "check --contract entry-cache --contract active-cursors --subject mutant:duplicate-counted",
        "mutant:duplicate-counted is a subject of delayed-delivery, not of entry-cache",
    ),
    Case("mutant as subject", "check --subject mutant:x", "unknown mutant 'x'; `broker-tck prove --list` names them"),
    Case(
        "subject",
        "check --subject my-tracker",
        "unknown subject 'my-tracker'; there are: time-bucket, heap, bucket, ~, timebucket-2026, ~, "
        "mutant:NAME, pulsar-VERSION/CLASS, package.module:Factory, exec:COMMAND",
    ),
    # Subjects
    Case(
        "module",
        "check --subject no_such:Tracker",
        "no_such:Tracker: the module 'no_such' cannot be imported: ModuleNotFoundError: No module named 'no_such'",
    ),
    Case(
        "module that ends",
        "check --subject ending:Tracker",
        "ending:Tracker: the module 'ending' cannot be imported: SystemExit: 5",
    ),
    # Classes of releases: what is said before Java or a jar is looked for
    Case(
        "release",
        "check --subject pulsar-nine/in-memory",
        f"pulsar-nine/in-memory: 'nine' is no version of a release, such as {TRIED}",
    ),
    Case(
        "class of a release",
        "check --subject pulsar-3.0.7/cursor-list",
        "pulsar-3.0.7/cursor-list: no class 'cursor-list' of Pulsar 3.0.7 is a subject; there are: in-memory, "
        "negative-acks, cursor-heap, ack-timeout, and classes of your own by their full name (com.acme.MyTracker)",
    ),
    Case(
        "class of a release that is too old",
        "check --subject pulsar-2.11.4/com.acme.Tracker",
        "pulsar-2.11.4/com.acme.Tracker: no class of Pulsar 2.11.4 is a subject; releases from 3.0 on have some",
    ),
    Case(
        "class path",
        "check --subject pulsar-4.2.4/in-memory --classpath target/classes",
        "pulsar-4.2.4/in-memory: target/classes: is neither a jar nor a folder of class files",
    ),
    Case(
        "folder of jars missing",
        "check --subject pulsar-4.2.4/in-memory --pulsar lib",
        "Invalid value for '--pulsar': Directory 'lib' does not exist (see `broker-tck check --help`)",
    ),
    Case(
        "classpath of a folder without the jar",
        "classpath 9.9.9 --pulsar d",
        "Pulsar 9.9.9: d: has no pulsar-broker-9.9.9.jar (no other version either)",
    ),
    Case("classpath of a number", "classpath 1", f"Pulsar 1: '1' is no version of a release, such as {TRIED}"),
    Case(
        "survey that cannot be written, told before all else",
        "pulsar x -o none/page.md",
        "none/page.md: cannot be written: No such file or directory",
    ),
    Case("survey of no release", "pulsar 4.2.4 x", f"'x' is no version of a release, such as {TRIED}"),
    Case("survey of nothing", "pulsar 2.11.4", "no class of 2.11.4 is a subject of a contract"),
    subject("Missing", "the module 'odd' has no 'Missing'"),
    subject("Number", "a factory is called as Factory(config, clock, timer); 5 is not callable"),
    subject("Text", "profiles is 'heap'; it must be a tuple of names, such as ('timebucket-ideal',)"),
    subject("Unknown", f"unknown profile 'legacy-java' of delayed-delivery; there are: {PROFILES}"),
    Case(
        "subject Other",
        "check --subject odd:Other",
        f"~unknown contract 'redelivery'; ~here are: {NAMES}",
    ),
    subject(
        "Wide",
        "its capabilities are not those of delayed-delivery: entry_id_bits is 128; expected int <= 63",
    ),
    subject("Loose", "its capabilities are not those of delayed-delivery: ~"),
    # Positions and lists in a line
    Case(
        "depth of a position",
        ["replay", "active-cursors; add a [1,[2,3]]"],
        "text: step 1: add: at is [1, [2, 3]]; it must be a position, such as [0,5]",
    ),
    # Words with a pattern, words of a list, flags
    text("lower case", "text: step 1: open: name is a; it must be one capital letter", "topic-delivery; open a"),
    text(
        "handle without a number",
        "text: step 1: has: handle is A; it must be a capital letter and a number, such as A1",
        "topic-delivery; has A",
    ),
    text(
        "long name of a cursor",
        f"text: step 1: add: name is {'c' * 59}…; it must be a word of 1 to 64 characters, no semicolon",
        f"active-cursors; add {'c' * 65} [0,0]",
    ),
    trace("true for one", "t:1: step 1: remove: last_inclusive is true; expected int, got bool", REMOVE),
    text("word of several", "text: step 1: inside: what is ack; it must be ~ or ~", "negative-acks; inside ack 0 0 0"),
    text(
        "empty backoff",
        "text: config: backoff_ms is []; expected array of length >= 1",
        "negative-acks backoff_ms=[]; adv 1",
    ),
    text(
        "multiplier the wrong way round",
        "text: config: the longest delay of the multiplier is below its first",
        "negative-acks multiplier=[2,1,2]; adv 1",
    ),
    Case(
        "operation that a subject lacks",
        ["replay", "--subject", "stepwise-queue", "entry-cache; fetch 0 0 1 0 5 0"],
        "text: step 1: stepwise-queue declares to lack what 'fetch' needs",
    ),
    Case(
        "entry in chunks and by itself",
        ["replay", "--subject", "sorted-buckets", "negative-acks; chunked 1 5 3 0; nack 1 5 0"],
        "text: step 2: no subject can be asked for 'nack' at this step",
    ),
    # Trace files
    Case(
        "subject of another contract than the trace",
        ["replay", "has", "--subject", "sorted-cursors"],
        "text: a trace of delayed-delivery; sorted-cursors is a subject of active-cursors",
    ),
    Case("file missing", "replay no.jsonl", f"'no.jsonl': no such file, {TEXT}"),
    Case("long name", ["replay", "x" * 5000], f"'{'x' * 59}…': no such file, {TEXT}"),
    Case("directory", "replay d", "d: has no regression; `broker-tck check --save d` saves them there"),
    Case("file in a file", "replay ending.py/t", "ending.py/t: cannot be read: Not a directory"),
    Case("link to itself", "replay loop", "loop: cannot be read: Too many levels of symbolic links"),
    trace("file empty", "t: empty; a trace file has one JSON object on each line", "\n"),
    trace("file binary", "t: not UTF-8 text, so not a trace; traces are JSON lines", b"\xff\xfe\x00\x01"),
    trace(
        "file of words", "t:1: text, not JSON; a trace file has one JSON object on each line", "add 1 0 +2000; get 1"
    ),
    trace("file of wrong JSON", "t:1: not JSON (JSON is malformed: ~)", "{'version': 1}"),
    trace(
        "NaN in a step",
        "t:1: not JSON (JSON is malformed: invalid character (byte 107))",
        json.dumps(GOOD | {"steps": [["has"], ["get", float("nan")]]}),
    ),
    trace("truncated", "t:1: not JSON (~); is the file cut off?", json.dumps(GOOD)[:60]),
    trace("deep", "t:1: not a trace: nested too deep", '{"steps":' + "[" * 100_000),
    trace("unknown part", "t:1: not a trace: object contains unknown field more", {"more": 1}),
    trace("step a number", "t:1: not a trace: steps is [5]; expected array, got int", {"steps": [5]}),
    trace("version", "t:1: a trace of version 2; this kit reads version 1", {"version": 2}),
    trace(
        "config out of bounds",
        "t:1: config: tick is -1; expected int >= 0",
        {"config": {"tick": -1}},
    ),
    trace("no operation", f"t:1: step 1: unknown operation ''; there are: {OPERATIONS}", {"steps": [[]]}),
    trace(
        "operation a list",
        f"t:1: step 1: unknown operation ['has']; there are: {OPERATIONS}",
        {"steps": [[[["has"]], 1, 0, []]]},
    ),
    trace("fields too few", "t:1: step 1: add takes 3 fields (ledger entry at), not 2", {"steps": [["add", 1, 0]]}),
    trace(
        "field of another type",
        't:1: step 1: get: most is "1"; expected int, got str',
        {"steps": [["get", "1"]]},
    ),
    trace("field too large", "t:1: step 1: add: ledger is ~", {"steps": [["add", 2**80, 1, 5]]}),
    trace("outcomes", "t:1: step 1: 2 outcomes; there must be: result, count, armed", {"steps": [[["has"], False, 0]]}),
    # Texts
    text("text number", "text: step 1: get: most is many; expected int, got str", "get many"),
    text("text time", "text: step 1: '+soon' is not a time; write milliseconds, or +milliseconds", "add 1 0 +soon"),
    text(
        "text time too long",
        f"text: step 1: '+{'9' * 58}…' is not a time; write milliseconds, or +milliseconds",
        f"add 1 0 +{'9' * 5000}",
    ),
    text(
        "text outcome",
        "text: step 1: after -> there must be a JSON array: the result and the observables",
        "has -> [false, 0",
    ),
    text(
        "text without =",
        "text: 'tick' is not field=value; the fields are: tick, strict, lookahead, clock",
        "delayed-delivery heap tick; has",
    ),
    text(
        "text field",
        "text: config: unknown field 'tock'; did you mean 'tick'? There are: tick, strict, lookahead, clock",
        "delayed-delivery heap tock=1; has",
    ),
    text(
        "text field twice",
        "text: config: tick is given twice, as 1 and as 2",
        "delayed-delivery heap tick=1 strict=true tick=2; has",
    ),
    text(
        "text clock", "text: config: the clock is in milliseconds, not 'now'", "delayed-delivery clock=now; add 1 0 +5"
    ),
    # What is there already, or is not what it must be
    Case("record over a file", "walk --record t", "t: exists already; --record needs a new file name", "mine"),
    Case("record nowhere", "walk --record no/t", "no/t: cannot be written: No such file or directory"),
    Case(
        "init over files",
        "init p",
        "p/test_p.py: exists already; init needs a folder without p.py, test_p.py, pyproject.toml",
    ),
    Case(
        "init of no name",
        "init 2fast",
        "'2fast' cannot name a module: the name must begin with a letter, as my-tracker does",
    ),
    Case(
        "init of a name of Python's",
        "init queue",
        "'queue' is the name of a module of Python: choose another name, such as my-queue",
    ),
    Case("init over a file", "init t", "t: cannot be written: File exists", "mine"),
    Case(
        "nothing to reduce",
        ["reduce", "add 1 0 +5; get 1", "--subject", "heap"],
        "add 1 0 +5; get 1: heap agrees with the model at every step; there is nothing to reduce",
    ),
]


ACME = """
from broker_tck.implementations.bundled import BUNDLED
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.interface import DelayedDeliveryTracker
class Mine(TimeBucketTracker): pass
class Helper: contract = "none"
def make(config, clock, timer): return Mine(config, clock, timer)
make.contract = "delayed-delivery"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a directory ``d``, a link ``loop`` to itself, a folder ``p`` that has a test already, and a module.

    The module ends the process.
    """
    (tmp_path / "d").mkdir()
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "test_p.py").write_text("mine")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme" / "__init__.py").write_text("from acme.tracker import Mine")
    (tmp_path / "acme" / "tracker.py").write_text(ACME)
    (tmp_path / "ending.py").write_text("raise SystemExit(5)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    odd = ModuleType("odd")
    vars(odd).update({name: made for name, made in vars(Badly).items() if not name.startswith("_")})
    monkeypatch.setitem(sys.modules, "odd", odd)
    return tmp_path


def files(folder: Path) -> dict[str, bytes]:
    return {str(f): f.read_bytes() for f in folder.rglob("*") if f.is_file() and "__pycache__" not in f.parts}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_bad_input_gets_one_line(cli: Cli, folder: Path, case: Case) -> None:
    if case.content is not None:
        content = case.content if isinstance(case.content, bytes) else case.content.encode()
        (folder / "t").write_bytes(content)
    before = files(folder)
    status, out, err = cli(*(case.arguments.split() if isinstance(case.arguments, str) else case.arguments))
    assert (status, out) == (2, "")
    assert err.startswith("broker-tck: ")
    assert err.count("\n") == 1
    line = err.removeprefix("broker-tck: ").removesuffix("\n")
    assert re.fullmatch(".*".join(map(re.escape, case.line.split("~"))), line), line
    assert files(folder) == before


def test_standard_input_that_is_no_text(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from io import BytesIO, TextIOWrapper

    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(b"\xff\xff\n"), encoding="utf-8"))
    line = "broker-tck: standard input: not UTF-8 text, so not a trace; traces are JSON lines\n"
    assert cli("replay", "-") == (2, "", line)


def test_file_that_may_not_be_read(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*arguments: Any, **options: Any) -> None:
        raise PermissionError(13, "Permission denied")

    (folder / "t").write_text("{}")
    monkeypatch.setattr(Path, "open", refused)
    assert cli("replay", "t") == (2, "", "broker-tck: t: cannot be read: Permission denied\n")


def test_folder_that_may_not_be_searched(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: Any, **options: Any) -> Any:
        if str(path) == "closed/t":
            raise PermissionError(13, "Permission denied")
        return stat(path, **options)

    stat = os.stat
    monkeypatch.setattr(os, "stat", refused)
    assert cli("replay", "closed/t") == (2, "", "broker-tck: closed/t: cannot be read: Permission denied\n")


def test_mark_of_utf_8_is_read_over(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from io import BytesIO, TextIOWrapper

    marked = b"\xef\xbb\xbf" + json.dumps(GOOD).encode()
    (folder / "t").write_bytes(marked)
    status, out, err = cli("replay", "t", "--subject", "heap")
    assert (status, err) == (0, "")
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(marked), encoding="utf-8"))
    assert cli("replay", "-", "--subject", "heap") == (status, out, err)
