"""Subjects of Java where there is no Java: what is found of it and of jars, and the one line that says what is missing.

What they do on a Java is tested in ``tests/jvm``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from zipfile import ZipFile

import pytest
from campaigns.resident import Resident
from conftest import Cli
from kit import python, subject_of

from broker_tck.cli.options import chosen_profiles
from broker_tck.implementations.jvm import jars, java, subject
from broker_tck.implementations.jvm.jars import FOLDER, SHIPPED, Jar
from broker_tck.implementations.jvm.releases import CLIENT_SINCE_5_0_1, GROUP, OWN, Release
from broker_tck.implementations.jvm.subject import JavaFactory
from broker_tck.implementations.jvm.unavailable import Unavailable
from broker_tck.implementations.released import CLASSPATH, KINDS, made, names
from broker_tck.properties.engine.check import HANG, no_answer
from broker_tck.properties.engine.subjects import declared, resolve
from broker_tck.properties.engine.trace import from_text
from broker_tck.properties.engine.walk import Walk
from broker_tck.properties.explain.finding import unreduced
from broker_tck.properties.report.made import replay_command

IN_MEMORY = "pulsar-4.2.4/in-memory"
EXTRA = "subjects of Java need the extra jvm: pip install '.[jvm]' in a clone of broker-tck"
EVERY_MODULE = """
import sys
sys.modules.update(dict.fromkeys(("jpype", "jgo")))
import importlib, pkgutil
import broker_tck.implementations as rooms
for module in pkgutil.walk_packages(rooms.__path__, rooms.__name__ + "."):
    importlib.import_module(module.name)
from broker_tck.implementations.released import tried
print(len([*tried()]))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder; its folder ``lib`` has the broker's jar of another release."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "pulsar-broker-4.2.3.jar").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(FOLDER, raising=False)
    monkeypatch.delenv(CLASSPATH, raising=False)
    return tmp_path


@pytest.fixture
def with_java(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the extra and a Java were there."""
    monkeypatch.setattr(subject, "see_java", lambda needed: None)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which alone Java is looked for: 11, 17, and a 21 without a library; `JAVA_HOME` is not set."""
    for version in ("11.0.2", "17.0.9", "21"):
        home = tmp_path / f"java-{version}"
        (home / "lib" / "server").mkdir(parents=True)
        (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
        if version != "21":
            (home / "lib" / "server" / "libjvm.so").touch()
    (tmp_path / "no-java").mkdir()
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(java, "HOMES", (str(tmp_path), str(tmp_path / "nowhere")))
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def complaint(cli: Cli, *arguments: str) -> str:
    """The line that bad input gets."""
    status, out, err = cli(*arguments)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    return err.removeprefix("broker-tck: ").removesuffix("\n")


def test_rooms_are_imported_without_the_extra() -> None:
    done = python("-c", EVERY_MODULE)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 20


# ---- The extra


def test_subjects_are_listed_without_the_extra(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jpype", None)
    status, out, _ = cli("subjects", "--contract", "entry-cache")
    assert status == 0
    (line,) = (line for line in out.splitlines() if line.startswith("pulsar-5.0.1/"))
    assert line.split()[:2] == ["pulsar-5.0.1/range-cache", "pip-430-5.0"]
    assert line.endswith("released class RangeCache")


# ---- Jars


def whole(folder: Path) -> Callable[[str], str]:
    """Answers with jars of such a name in a cache, each made as it is asked for."""

    def made(name: str) -> str:
        path = folder / "m2" / f"{name}.jar"
        path.parent.mkdir(parents=True, exist_ok=True)
        ZipFile(path, "w").close()
        return str(path)

    return made


def without(folder: Path, *gone: str) -> Callable[[str], str]:
    """The same, but there is none of some names."""

    def made(name: str) -> str:
        if name in gone:
            raise RuntimeError("not found")
        return whole(folder)(name)

    return made


def maven(monkeypatch: pytest.MonkeyPatch, resolve: Any, *statuses: int) -> None:
    """Stand in for jgo: a jar is what ``resolve`` answers for its name, and nothing is known of it from before.

    ``statuses`` are those of repositories that are asked again.
    """
    monkeypatch.setattr(jars, "sought", jars.sought.__wrapped__)
    monkeypatch.setattr(jars, "statuses", lambda artifact: {*statuses})

    class MavenContext:
        def __init__(self, timeout: int) -> None:
            self.name = ""

        def __getattr__(self, name: str) -> Any:
            return lambda *parts: (setattr(self, "name", f"{self.name}/{'/'.join(parts)}".strip("/")), self)[1]

        def resolve(self) -> str:
            found: str = resolve(self.name)
            return found

    module = ModuleType("jgo.maven")
    module.__dict__["MavenContext"] = MavenContext
    monkeypatch.setitem(sys.modules, "jgo", ModuleType("jgo"))
    monkeypatch.setitem(sys.modules, "jgo.maven", module)


def raising(error: Exception) -> Callable[[str], str]:
    """Answers with an error, whatever is asked for."""

    def refused(name: str) -> str:
        raise error

    return refused


@pytest.mark.parametrize(
    ("error", "statuses", "says"),
    [
        (RuntimeError("not found"), [404], "is in no repository"),
        (RuntimeError("not found"), [404, 503], "cannot be downloaded (a repository answers with status 503)"),
        (OSError("no\nroute"), [], "cannot be downloaded (no repository answers, is there a network?)"),
        (OSError(28, "No space left on device"), [], "cannot be downloaded (No space left on device)"),
    ],
)
@pytest.mark.usefixtures("folder", "with_java")
def test_jar_that_cannot_be_had(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, error: Exception, statuses: list[int], says: str
) -> None:
    maven(monkeypatch, raising(error), *statuses)
    told = f"org.apache.pulsar:pulsar-broker:{{}} {says}; name a folder that has it: --pulsar DIR"
    assert complaint(cli, "classpath", "9.9.8") == f"Pulsar 9.9.8: {told.format('9.9.8')}"
    name = "pulsar-4.1.1/in-memory"
    assert complaint(cli, "check", "--subject", name) == f"{name}: {told.format('4.1.1')}"


def test_classpath_is_printed(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maven(monkeypatch, whole(folder))
    monkeypatch.setattr("broker_tck.implementations.jvm.releases.LIBRARIES", (Jar("io.netty", "netty-common", "4.1"),))
    status, out, err = cli("classpath", "9.9.7")
    assert (status, err) == (0, "")
    first, *rest = out.strip().split(":")
    assert first == f"{folder}/m2/org.apache.pulsar/pulsar-broker/9.9.7.jar"
    assert rest[-1] == f"{folder}/m2/io.netty/netty-common/4.1.jar"
    assert len(rest) == len(OWN) + len(CLIENT_SINCE_5_0_1)


def test_classpath_says_which_jars_are_of_another_release(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maven(monkeypatch, without(folder, f"{GROUP}/pulsar-common/5.0.1", f"{GROUP}/pulsar-metadata/5.0.1"), 404)
    monkeypatch.setattr("broker_tck.implementations.jvm.releases.LIBRARIES", ())
    status, out, err = cli("classpath", "5.0.1")
    assert (status, err) == (
        0,
        "broker-tck: pulsar-common, pulsar-metadata of 5.0.1 are not available; those of 5.0.0-M1 are used\n",
    )
    versions = {Path(each).parent.name: Path(each).stem for each in out.strip().split(":")}
    own = dict.fromkeys((*OWN, *CLIENT_SINCE_5_0_1), "5.0.1")
    assert versions == {**own, "pulsar-common": "5.0.0-M1", "pulsar-metadata": "5.0.0-M1"}


def test_no_jar_stands_in_for_the_one_that_has_the_class(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maven(monkeypatch, without(folder, f"{GROUP}/pulsar-client-original/5.0.1"), 404)
    with pytest.raises(Unavailable, match=r"pulsar-client-original:5\.0\.1 is in no repository"):
        list(Release("5.0.1").paths(KINDS["negative-acks"].jars))
    assert all(name in OWN for kind in KINDS.values() for name in kind.jars)


@pytest.mark.usefixtures("with_java")
def test_folder_s_jars_come_before_those_of_a_repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maven(monkeypatch, whole(folder))
    monkeypatch.setenv(FOLDER, "lib")
    for name in OWN:
        (folder / "lib" / f"org.apache.pulsar-{name}-4.2.4.jar").touch()
    (folder / "lib" / "io.netty-netty-common-4.2.9.Final.jar").touch()
    found = {path.name: path for path in resolve(IN_MEMORY).factory.files()}
    assert found["org.apache.pulsar-pulsar-broker-4.2.4.jar"].parent == Path("lib")
    assert "io.netty-netty-common-4.2.9.Final.jar" in found
    assert found["8.5.16.jar"] == folder / "m2" / "it.unimi.dsi" / "fastutil" / "8.5.16.jar"
    assert not [name for name in found if "4.2.3" in name]


def test_folder_may_have_what_is_in_no_repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maven(monkeypatch, raising(RuntimeError()), 404)
    assert Release("4.1.1").lacks("pulsar-broker")
    assert [*names(Release("4.1.1"))] == ["negative-acks", "ack-timeout"]
    (folder / "lib" / "pulsar-broker-4.1.1.jar").touch()
    monkeypatch.setenv(FOLDER, "lib")
    assert not Release("4.1.1").lacks("pulsar-broker")
    assert "in-memory" in [*names(Release("4.1.1"))]
    assert made.__wrapped__("4.1.1", "in-memory", "", None).profiles == ("timebucket-2025",)
    assert Release("4.1.1").lacks("managed-ledger")


def test_replay_command_names_what_made_the_subject(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDER, raising=False)
    trace, died = from_text("add 1 0 +2000"), (HANG, "no answer")
    finding = unreduced(
        subject_of(Resident, IN_MEMORY), "heap", Walk(None, trace.config, trace.operations, no_answer(*died))
    )
    plain = replay_command(finding)
    assert plain.startswith(f"broker-tck replay --subject {IN_MEMORY} 'delayed-delivery heap")
    monkeypatch.setenv(FOLDER, "my lib")
    assert replay_command(finding) == plain.replace(f"{IN_MEMORY} ", f"{IN_MEMORY} --pulsar 'my lib' ")
    assert replay_command(replace(finding, subject="heap")) == plain.replace(IN_MEMORY, "heap")
    monkeypatch.setenv(FOLDER, SHIPPED)
    assert replay_command(finding) == plain


# ---- The user's classes


@pytest.mark.usefixtures("with_java")
def test_user_s_classes_stand_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Release, "paths", lambda self, names: iter([Path("release.jar")]))
    monkeypatch.setattr(subject, "path_of", lambda jar: Path("tool.jar"))
    (folder / "classes").mkdir()
    ZipFile(folder / "lib" / "shipped.jar", "w").close()
    monkeypatch.setattr(JavaFactory, "stands_before", lambda self, place: True)
    monkeypatch.setenv(CLASSPATH, "classes")
    named = resolve(IN_MEMORY)
    assert named.name == f"{IN_MEMORY}@classes"
    assert [path.name for path in named.factory.files()][:2] == ["classes", "release.jar"]
    monkeypatch.setenv(FOLDER, "lib")
    both = resolve(f"{IN_MEMORY}@gone/shipped.jar:classes")
    assert [str(path) for path in both.factory.files()][:3] == ["lib/shipped.jar", "classes", "release.jar"]


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_kind_s_lines_are_in_ascending_order(kind: Any) -> None:
    since = [line.since for line in kind.lines]
    assert since == sorted(since)


def test_release_that_nobody_has_run_is_told(capsys: pytest.CaptureFixture[str], with_java: None, folder: Path) -> None:
    guess = "the kit was never run on that class of 4.0.9; that it is heap is a guess"
    assert made("4.0.9", "in-memory", "", None).untried == guess
    assert made("4.0.8", "in-memory", "", None).untried == made("4.0.9", "in-memory", "lib", None).untried == ""
    untried = declared("pulsar-4.0.9/in-memory", made("4.0.9", "in-memory", "", None))
    assert chosen_profiles(untried, None) == ("heap",)
    assert capsys.readouterr() == ("", f"broker-tck: pulsar-4.0.9/in-memory: {guess}\n")
    assert chosen_profiles(untried, "heap") == ("heap",)
    assert capsys.readouterr() == ("", "")


# ---- Java


def test_java_that_is_not_there(installed: Path, folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "HOMES", ())
    not_started(monkeypatch)
    assert complaint(cli, "check", "--subject", IN_MEMORY) == (
        f"{IN_MEMORY}: Java 17 or later is needed, and found was none; install one "
        "(apt-get install openjdk-17-jre-headless) or set JAVA_HOME"
    )


def not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the extra were there."""
    monkeypatch.setattr(java, "imported", lambda: SimpleNamespace(isJVMStarted=lambda: False))


def test_java_that_is_too_old(installed: Path) -> None:
    with pytest.raises(Unavailable, match=r"^Java 21 or later is needed, and found was Java 11, Java 17; install one "):
        java.found(21)


def test_java_that_is_too_old_for_one_subject_of_several_is_told_before_it_starts(
    installed: Path, folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    not_started(monkeypatch)
    maven(monkeypatch, whole(folder))
    home = installed / "java-17.0.9"
    says = (
        f"pulsar-5.0.1/in-memory: Java 21 or later is needed, and JAVA_HOME ({home}) has Java 17; set it to another, "
        "or unset it for the newest that is installed"
    )
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert complaint(cli, "check", "--subject", IN_MEMORY, "--subject", "pulsar-5.0.1/in-memory") == says
    assert complaint(cli, "pulsar", "4.2.4", "5.0.1", "--contract", "delayed-delivery") == says


def test_newest_java_is_found_or_that_of_the_environment(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert java.found(8) == (installed / "java-17.0.9", 17)
    monkeypatch.setenv("JAVA_HOME", str(installed / "java-11.0.2"))
    assert java.found(8) == (installed / "java-11.0.2", 11)
    monkeypatch.setenv("JAVA_HOME", str(installed / "java-21"))
    with pytest.raises(Unavailable, match=r"JAVA_HOME \(.*\) has none"):
        java.found(8)
