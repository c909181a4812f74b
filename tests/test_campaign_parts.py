"""What campaigns do before they run: refuse what cannot, in one line, and tell one campaign's code from another's."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zipfile import ZipFile

import msgspec
import pytest
import refresh
from conftest import Cli
from kit import ROOT, python

from broker_tck.cli.campaigns import clock
from broker_tck.implementations.bundled import BUNDLED
from broker_tck.properties.errors import BadInput
from broker_tck.properties.threads.search import Budget
from broker_tck.spark_fuzz.driver import fingerprint
from broker_tck.spark_fuzz.driver.fingerprint import subject_digests
from broker_tck.spark_fuzz.driver.manifest import FORMAT, Code, Manifest, Pair, code_here, decoded, encoded
from broker_tck.spark_fuzz.driver.merging import check as check_mergeable
from broker_tck.spark_fuzz.driver.merging import merged_manifest
from broker_tck.spark_fuzz.executors import PROCESSES, SPARK, choosing, session
from broker_tck.spark_fuzz.executors.choosing import Choice
from broker_tck.spark_fuzz.executors.ship import KIT_PACKAGES, files, settings, ship
from broker_tck.spark_fuzz.store.tables import Store

JAVA_11 = 'openjdk version "11.0.2" 2019-01-15'
JAVA_8 = 'java version "1.8.0_292"'
JAVA_21 = 'openjdk version "21" 2023-09-19'
CODE = Code("1.0", "d", "3.11", {"msgspec": "0.19"}, {"m:T": "x"})


def manifest(**changes: Any) -> Manifest:
    return msgspec.structs.replace(refresh.manifest([Pair("heap", "heap")], 1000), **changes)


# ---- What has to be there


WITHOUT = """
import sys

sys.modules[{name!r}] = None
from broker_tck.cli.main import run

print([run([*words, "store"]) for words in (["fuzz", "--store"], ["watch"], ["fuzz", "resume"])])
"""


@pytest.mark.parametrize("name", ["pyarrow", "deltalake"])
def test_missing_library_is_one_line(tmp_path: Path, name: str) -> None:
    ended = python("-c", WITHOUT.format(name=name), cwd=tmp_path)
    said = f"broker-tck: campaigns need {name}, which is not installed; `pip install 'broker-tck[fuzz]'` installs it\n"
    assert (ended.stdout, ended.stderr) == ("[2, 2, 2]\n", 3 * said)
    assert list(tmp_path.iterdir()) == []


def test_no_java_is_one_line_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(BadInput, match="no Java was found; `sudo apt-get install openjdk-17-jre-headless` installs it"):
        session.java()


@pytest.mark.parametrize(("said", "known"), [(JAVA_11, "11"), (JAVA_8, "8"), ("what?", "none"), (JAVA_21, "")])
def test_java_has_to_be_new_enough(monkeypatch: pytest.MonkeyPatch, said: str, known: str) -> None:
    monkeypatch.setattr(session.shutil, "which", lambda name, path: "/bin/java")
    done = subprocess.CompletedProcess("java", 0, stderr=said)
    monkeypatch.setattr(session.subprocess, "run", lambda *arguments, **options: done)
    if not known:
        assert session.java() == "/bin/java"
        return
    with pytest.raises(BadInput, match=f"need Java 17 or later; /bin/java is {known}; "):
        session.java()


# ---- Bad input


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("fuzz", "--store is missing: name a folder for the campaign's results, as in `broker-tck fuzz --store first`"),
        ("fuzz --store s --subject nosuch", "unknown subject 'nosuch'; "),
        ("fuzz --store s --contract nosuch", "unknown contract 'nosuch'; "),
        ("fuzz --store s --profile nosuch", "unknown profile 'nosuch'"),
        (
            "fuzz --store s --threads",
            "--threads needs --subject, and takes neither ",
        ),
        ("fuzz --store s --threads --subject heap --operations 9", "--threads needs --subject, "),
        ("fuzz --store s --threads --subject heap", "heap is no class of a release; "),
        ("fuzz --store s --programs 9", "--programs, --preemptions, --schedules and "),
        ("fuzz --store s --rounds 0", "Invalid value for '--rounds'"),
        ("fuzz --store s --executor nosuch", "Invalid value for '--executor'"),
        ("fuzz merge s --into t", "merge takes two stores or more"),
        ("fuzz nosuch", "unknown command 'nosuch'; there are: archive, merge, resume, stop"),
        ("report", "report needs a store with -o FILE or --junit FILE, or --compare A B"),
        ("report s", "report needs a store with -o FILE or --junit FILE, or --compare A B"),
        ("report s -o x --compare a b", "report needs a store with -o FILE or --junit FILE, or --compare A B"),
    ],
)
def test_bad_input_is_one_line(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = cli(*arguments.split())
    assert (status, out) == (2, "")
    assert err.startswith(f"broker-tck: {line}")
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["spark.a", "a=b", "=b"])
def test_setting_of_spark_is_a_name_and_a_value(text: str) -> None:
    with pytest.raises(BadInput, match=r"write a setting as spark.name=value"):
        choosing.setting(text)


@pytest.mark.parametrize(("seconds", "said"), [(0, "0:00"), (61, "1:01"), (3599.6, "1:00:00"), (7322, "2:02:02")])
def test_time_left_is_told_as_people_read_it(seconds: float, said: str) -> None:
    assert clock(seconds) == said


# ---- Manifest


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "s: not the store of a campaign: its manifest cannot be read"),
        ("[1]", "s: not the store of a campaign: its manifest cannot be read"),
        ('{"seed": 1}', "s: not the store of a campaign: its manifest cannot be read"),
        (encoded(manifest())[:90], "s: not the store of a campaign: its manifest cannot be read"),
        (
            encoded(manifest(format=FORMAT + 1)),
            f"s: a store of format {FORMAT + 1}; this kit reads and writes format {FORMAT}",
        ),
        (f'{{"format": {FORMAT}, "seed": "x"}}', "s: not the manifest of a campaign: "),
    ],
)
def test_manifest_that_is_none_is_one_line(text: str, line: str) -> None:
    with pytest.raises(BadInput) as raised:
        decoded(text, "s")
    assert str(raised.value).startswith(line)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, ""),
        ({"kit": "1.1"}, "broker-tck 1.1, not 1.0"),
        ({"python": "3.12"}, "Python 3.12, not 3.11"),
        ({"digest": "e"}, "different code of broker-tck 1.0 (digest e, not d)"),
        ({"libraries": {}}, "msgspec none, not 0.19"),
        ({"subjects": {"m:T": "y"}}, "different code of the subject m:T"),
        ({"subjects": {"m:T": "x", "heap": "y"}}, "different code of the subject heap"),
    ],
)
def test_code_that_differs_is_told(change: dict[str, Any], said: str) -> None:
    assert CODE.differs(msgspec.structs.replace(CODE, **change)) == said


def test_subject_of_the_kit_needs_no_digest_of_its_own() -> None:
    found = fingerprint.subject_digests(["heap", "mutant:strict-rounded-down", "misbehaving:ReadsNull"])
    assert list(found) == ["misbehaving:ReadsNull"]


def test_files_and_libraries_of_a_subject_are_part_of_its_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "campaigns"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match=r"resident:Jarred: its file kit\.jar does not exist"):
        code_here(["resident:Jarred"], "1.0")
    codes = []
    for text in ("jar", "jar", "other jar"):
        Path("kit.jar").write_text(text, encoding="utf-8")
        codes.append(code_here(["resident:Jarred"], "1.0"))
    assert [codes[0].differs(code) for code in codes] == ["", "", "different code of the subject resident:Jarred"]
    assert codes[0].libraries.keys() - {*fingerprint.LIBRARIES} == {"click"}


# ---- Merging and shipping


@pytest.mark.parametrize(
    ("other", "line"),
    [
        (manifest(), "b: repeats walks of a (same seed and subject); merge campaigns of different seeds"),
        (manifest(seed=8, threads=Budget(9)), "b: a campaign of programs; a is of walks"),
        (manifest(seed=8, contract="topic-delivery"), "b: a campaign of topic-delivery; a is of delayed-delivery"),
        (manifest(seed=8, code=msgspec.structs.replace(manifest().code, python="3.99")), "b: made with Python 3.99, "),
    ],
)
def test_campaigns_that_do_not_go_together_are_told(other: Manifest, line: str) -> None:
    with pytest.raises(BadInput) as raised:
        check_mergeable([Store("a"), Store("b")], [manifest(), other])
    assert str(raised.value).startswith(line)


def test_programs_are_not_counted_twice_either() -> None:
    races = manifest(threads=Budget(9))
    check_mergeable([Store("a"), Store("b")], [races, msgspec.structs.replace(races, seed=8)])
    with pytest.raises(BadInput, match=r"b: repeats programs of a \(same seed and subject\)"):
        check_mergeable([Store("a"), Store("b")], [races, races])


def test_campaigns_of_other_seeds_or_subjects_go_together() -> None:
    others = [manifest(seed=8), manifest(pairs=[Pair("time-bucket", "timebucket-ideal")])]
    check_mergeable([Store("a"), Store("b"), Store("c")], [manifest(), *others])
    merged = merged_manifest([manifest(), *others])
    assert len(merged.merged) == 3
    assert [pair.subject for pair in merged.pairs] == ["heap", "time-bucket"]
    again = merged_manifest([merged, manifest(seed=9)])
    assert [part.seed for part in again.merged] == [7, 8, 7, 9]
    with pytest.raises(BadInput, match="repeats walks of a"):
        check_mergeable([Store("a"), Store("b")], [merged, manifest(seed=8)])


def code(libraries: dict[str, str], subjects: dict[str, str]) -> Code:
    """Code of the same kit, with a subject's libraries."""
    return msgspec.structs.replace(CODE, libraries=CODE.libraries | libraries, subjects=subjects)


def test_campaigns_of_other_packages_go_together_unless_one_that_they_share_differs() -> None:
    mine, yours, both = [Pair("m:T", "heap")], [Pair("n:T", "heap")], [Pair("m:T", "heap"), Pair("n:T", "heap")]
    parts = [
        manifest(pairs=mine, code=code({"click": "8"}, {"m:T": "x"})),
        manifest(pairs=yours, code=code({"attrs": "9"}, {"n:T": "y"})),
    ]
    check_mergeable([Store("a"), Store("b")], parts)
    merged = merged_manifest(parts)
    assert merged.code == code({"click": "8", "attrs": "9"}, {"m:T": "x", "n:T": "y"})
    for pairs, other, line in (
        (
            both,
            code({"click": "8", "attrs": "9"}, {"m:T": "x", "n:T": "z"}),
            "c: made with different code of the subject n",
        ),
        (both, code({"click": "8", "attrs": "9"}, {"m:T": "x"}), "c: made with different code of the subject n:T, "),
        (yours, code({"attrs": "8"}, {"n:T": "y"}), "c: made with attrs 8, not 9, unlike "),
    ):
        third = manifest(seed=8, pairs=pairs, code=other)
        with pytest.raises(BadInput, match=line):
            check_mergeable([Store("a"), Store("b"), Store("c")], [*parts, third])
        with pytest.raises(BadInput, match=line):
            check_mergeable([Store("a"), Store("c")], [merged, third])


def test_files_of_subjects_are_shipped_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "campaigns"))
    monkeypatch.setattr("broker_tck.spark_fuzz.executors.ship.SPARK_LIBRARIES", ())
    monkeypatch.chdir(tmp_path)
    other = tmp_path / "other" / "kit.jar"
    other.parent.mkdir()
    for path in (Path("kit.jar"), other):
        path.write_text("jar", encoding="utf-8")
    monkeypatch.setattr(BUNDLED["heap"], "files", lambda: [other], raising=False)
    with ZipFile(ship(["resident:Jarred", "heap"], tmp_path)) as archive:
        names = archive.namelist()
        assert archive.read("jars/kit.jar") == b"jar"
    assert names.count("jars/kit.jar") == 1
    assert settings(tmp_path / "broker-tck.zip")["spark.executorEnv.BROKER_TCK_JARS"] == "shipped/jars"
    assert "click/core.py" in names
    other.write_text("other jar", encoding="utf-8")
    with pytest.raises(BadInput, match=r"kit\.jar have the same name but different content; run them in two campaigns"):
        ship(["resident:Jarred", "heap"], tmp_path)


def test_folders_of_subjects_are_shipped_with_what_is_in_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("broker_tck.spark_fuzz.executors.ship.SPARK_LIBRARIES", ())
    folders = [tmp_path / build / "classes" for build in ("a", "b")]
    for folder in folders:
        (folder / "com").mkdir(parents=True)
        (folder / "com" / "Mine.class").write_bytes(b"mine")
    for name, folder in zip(("heap", "time-bucket"), folders, strict=True):
        monkeypatch.setattr(BUNDLED[name], "files", partial(list, [folder]), raising=False)
    with ZipFile(ship(["heap", "time-bucket"], tmp_path)) as archive:
        assert [name for name in archive.namelist() if name.startswith("jars/")] == ["jars/classes/com/Mine.class"]
    before = subject_digests(["heap", "time-bucket"])
    assert before["heap"] == before["time-bucket"]
    (folders[1] / "com" / "Other.class").write_bytes(b"other")
    assert subject_digests(["heap"])["heap"] == before["heap"]
    assert subject_digests(["time-bucket"])["time-bucket"] != before["time-bucket"]
    with pytest.raises(
        BadInput, match=r"classes and .*classes have the same name but different content; run them in two campaigns"
    ):
        ship(["heap", "time-bucket"], tmp_path)


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The arguments of the sessions that were made; they are none."""
    seen: list[tuple[Any, ...]] = []

    @contextmanager
    def no_session(*arguments: Any) -> Iterator[None]:
        seen.append(arguments)
        yield

    monkeypatch.setattr(choosing, "session", no_session)
    monkeypatch.setattr(choosing, "ship", lambda _names, to: to / "broker-tck.zip")
    here = SimpleNamespace(processes=lambda number: nullcontext(SimpleNamespace(name=f"{number} processes")))
    monkeypatch.setitem(sys.modules, "broker_tck.spark_fuzz.executors.processes", here)
    return seen


def chosen(**asked: Any) -> tuple[str, list[str]]:
    """The name of the executor that a user gets who asked for so much, and what was said of it."""
    said: list[str] = []
    with choosing.executor(Choice(**asked), ["heap"], said.append) as made:
        return made.name, said


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        ({"executor": SPARK, "processes": 2}, "choose one executor: "),
        ({"executor": PROCESSES, "shipped": True}, "choose one executor: "),
        ({"processes": 2, "master": "local[2]"}, "choose one executor: "),
        ({"remote": "sc://host", "shipped": True}, "--remote: a Connect server has "),
        ({"confs": ["a=b"]}, "--conf a=b: write a setting as spark.name=value"),
    ],
)
def test_executor_that_nobody_can_be_is_refused(asked: dict[str, Any], line: str) -> None:
    with pytest.raises(BadInput, match=re.escape(line)):
        chosen(**asked)


def test_nothing_is_sent_where_everything_is_on_this_machine(sessions: list[tuple[Any, ...]]) -> None:
    for master in ("local[2]", "spark://host:7077"):
        assert chosen(master=master, shipped=True) == (f"Spark, {master}", [])
    assert ["spark.executorEnv.BROKER_TCK_JARS" in settings for _, _, settings, *_ in sessions] == [False, True]


def test_spark_is_chosen_if_it_is_here_or_asked_for(
    sessions: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choosing, "lacking", lambda: "")
    assert chosen() == ("Spark, local[*]", [])
    monkeypatch.setattr(choosing, "lacking", lambda: "no Java")
    assert chosen() == ("None processes", ["no Java; the campaign runs in processes of this machine"])
    assert chosen(executor=PROCESSES, processes=3) == chosen(processes=3) == ("3 processes", [])
    assert chosen(executor=SPARK) == ("Spark, local[*]", [])
    assert chosen(remote="sc://host") == ("Spark, sc://host", [])
    assert [arguments[:2] for arguments in sessions] == [("local[*]", None)] * 2 + [(None, "sc://host")]


def test_what_is_shipped_has_the_kit_and_its_libraries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("broker_tck.spark_fuzz.executors.ship.SPARK_LIBRARIES", ())
    names = {name for name, _ in files(["heap", "misbehaving:ReadsNull"])}
    assert {"broker_tck/model/rules.py", "broker_tck/spark_fuzz/executors/log4j2.properties", "misbehaving.py"} <= names
    assert {name.split("/")[1] for name in names if name.startswith("broker_tck/")} == {*KIT_PACKAGES, "__init__.py"}
    assert any(name.startswith("msgspec/") and name.endswith(".so") for name in names)
    assert any(name.endswith(".dist-info/METADATA") for name in names)
    assert not [name for name in names if "__pycache__" in name or name.startswith("..")]
