"""Subjects of Java where there is no Java: what is found of it and of jars, and the one line that says what is missing.

What they do on a Java is tested in ``tests/jvm``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from zipfile import ZipFile

import pytest
from conftest import Cli
from kit import python

from broker_tck.cli.options import chosen_profiles
from broker_tck.implementations.jvm import jars, java, subject
from broker_tck.implementations.jvm.jars import FOLDER, Jar
from broker_tck.implementations.jvm.releases import OWN, Release
from broker_tck.implementations.jvm.subject import JavaFactory
from broker_tck.implementations.jvm.unavailable import Unavailable
from broker_tck.implementations.released import CLASSPATH, KINDS, made, names, released, tried
from broker_tck.properties.subjects import declared, resolve

IN_MEMORY = "pulsar-4.2.4/in-memory"
EXTRA = "subjects of Java need the extra jvm: pip install 'broker-tck[jvm]'"
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
    monkeypatch.setattr(subject, "imported", lambda: None)
    monkeypatch.setattr(subject, "found", lambda needed: None)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
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
    java.found.cache_clear()
    yield tmp_path
    java.found.cache_clear()


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


def test_jpype_that_is_not_installed(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maven(monkeypatch, lambda name: f"/m2/{name}.jar")
    monkeypatch.setattr(jars, "cached", jars.cached.__wrapped__)
    monkeypatch.setitem(sys.modules, "jpype", None)
    assert complaint(cli, "check", "--subject", IN_MEMORY) == f"{IN_MEMORY}: {EXTRA}"
    assert complaint(cli, "pulsar", "4.2.4") == f"{IN_MEMORY}: {EXTRA}"


def test_jgo_that_is_not_installed(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jgo", None)
    monkeypatch.setitem(sys.modules, "jgo.maven", None)
    assert complaint(cli, "classpath", "9.9.9") == f"Pulsar 9.9.9: {EXTRA}"


def test_subjects_are_listed_without_the_extra(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jpype", None)
    status, out, _ = cli("subjects", "--contract", "entry-cache")
    assert status == 0
    (line,) = (line for line in out.splitlines() if line.startswith("pulsar-5.0.1/"))
    assert line.split()[:2] == ["pulsar-5.0.1/range-cache", "pip-430-5.0"]
    assert line.endswith("released class RangeCache")


# ---- Jars


def maven(monkeypatch: pytest.MonkeyPatch, resolve: Any) -> None:
    """Stand in for jgo: a jar is what ``resolve`` answers for its name."""

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


def test_release_that_is_in_no_repository(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(name: str) -> str:
        raise OSError("no\nroute")

    maven(monkeypatch, refused)
    told = complaint(cli, "classpath", "9.9.8")
    assert told == (
        "Pulsar 9.9.8: org.apache.pulsar:pulsar-broker:9.9.8: cannot be had from Maven's cache or repository "
        "(OSError); name a folder that has it: --pulsar DIR"
    )


def test_classpath_is_printed(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maven(monkeypatch, lambda name: f"/m2/{name}.jar")
    monkeypatch.setattr(jars, "cached", jars.cached.__wrapped__)
    monkeypatch.setattr("broker_tck.implementations.jvm.releases.LIBRARIES", (Jar("io.netty", "netty-common", "4.1"),))
    status, out, err = cli("classpath", "9.9.7")
    assert (status, err) == (0, "")
    first, *rest = out.strip().split(":")
    assert first == "/m2/org.apache.pulsar/pulsar-broker/9.9.7.jar"
    assert rest[-1] == "/m2/io.netty/netty-common/4.1.jar"
    assert len(rest) == len(OWN)


@pytest.mark.usefixtures("with_java")
def test_folder_without_the_release_s_own_jar(cli: Cli, folder: Path) -> None:
    told = complaint(cli, "check", "--subject", IN_MEMORY, "--pulsar", "lib")
    assert told == f"{IN_MEMORY}: lib: has no pulsar-broker-4.2.4.jar (pulsar-broker-4.2.3.jar)"


@pytest.mark.usefixtures("with_java")
def test_folder_s_jars_come_before_those_of_a_repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maven(monkeypatch, lambda name: f"/m2/{name}.jar")
    monkeypatch.setattr(jars, "cached", jars.cached.__wrapped__)
    monkeypatch.setenv(FOLDER, "lib")
    for name in OWN:
        (folder / "lib" / f"org.apache.pulsar-{name}-4.2.4.jar").touch()
    (folder / "lib" / "io.netty-netty-common-4.2.9.Final.jar").touch()
    found = {path.name: path for path in resolve(IN_MEMORY).factory.files()}
    assert found["org.apache.pulsar-pulsar-broker-4.2.4.jar"].parent == Path("lib")
    assert "io.netty-netty-common-4.2.9.Final.jar" in found
    assert str(found["8.5.16.jar"]) == "/m2/it.unimi.dsi/fastutil/8.5.16.jar"
    assert not [name for name in found if "4.2.3" in name]


def test_folder_may_have_what_is_in_no_repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Release("4.1.1").lacks("pulsar-broker")
    assert [*names(Release("4.1.1"))] == ["negative-acks"]
    (folder / "lib" / "pulsar-broker-4.1.1.jar").touch()
    monkeypatch.setenv(FOLDER, "lib")
    assert not Release("4.1.1").lacks("pulsar-broker")
    assert "in-memory" in [*names(Release("4.1.1"))]
    assert made.__wrapped__("4.1.1", "in-memory", "").profiles == ("timebucket-2025",)


def test_jars_that_are_missing_are_those_of_another_release() -> None:
    assert [jar.version for jar in Release("5.0.1").own(("pulsar-broker", "pulsar-common"))] == ["5.0.1", "5.0.0-M1"]


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


def test_other_names_are_of_other_subjects() -> None:
    assert released("heap") is None
    assert released("my_package.tracker:MyTracker") is None
    assert released("pulsar-queue") is None


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_kind_s_lines_are_in_ascending_order(kind: Any) -> None:
    since = [line.since for line in kind.lines]
    assert since == sorted(since)


PROFILES = {
    "in-memory": {
        "heap": "3.0.0 3.3.6 4.0.0 4.0.6 4.0.8 4.0.9",
        "timebucket-4.0.1": "4.0.1 4.0.2 4.0.3",
        "timebucket-4.0.4": "4.0.4 4.0.5",
        "timebucket-2025": "4.2.3",
        "timebucket-2026": "4.2.4",
    },
    "negative-acks": {
        "": "3.0.0 3.0.2 3.1.0",
        "legacy-java-3.0": "3.0.7 3.1.1 3.2.3 3.3.2 4.0.0",
        "legacy-java": "3.0.8 3.3.5 3.3.6 4.0.1",
        "pip-393-java": "4.0.4 4.1.1",
        "pip-393-java-4.2": "4.2.4 5.0.0-M1",
    },
    "cursor-heap": {"pulsar-heap": "3.0.0 3.0.7 3.2.3 3.3.2 4.0.6 5.0.1"},
}
"""What kinds are in some releases: at the edges of their lines, and at some that nobody has run."""


@pytest.mark.parametrize("kind", PROFILES)
def test_kind_is_what_was_measured(kind: str) -> None:
    for profile, versions in PROFILES[kind].items():
        for version in versions.split():
            line = KINDS[kind].line(Release(version))
            assert (line.profile if line else "") == profile, version


def test_heap_of_cursors_has_versions_from_some_releases_on() -> None:
    made_of = [made(version, "cursor-heap", "") for version in ("3.0.2", "3.0.7", "3.1.0", "3.2.3", "3.3.2", "4.2.4")]
    assert [each.capabilities.get("versions", True) for each in made_of] == [False, True, False, False, True, True]


def test_every_release_of_the_pages_was_measured() -> None:
    assert [name for name, kind, release in tried() if not release.measured(kind.jars[0])] == []


def test_release_that_nobody_has_run_is_told(capsys: pytest.CaptureFixture[str], with_java: None, folder: Path) -> None:
    guess = "nobody has run that release yet; that it is heap is a guess by its neighbours"
    assert made("4.0.9", "in-memory", "").untried == guess
    assert made("4.0.8", "in-memory", "").untried == made("4.0.9", "in-memory", "lib").untried == ""
    untried = declared("pulsar-4.0.9/in-memory", made("4.0.9", "in-memory", ""))
    assert chosen_profiles(untried, None) == ("heap",)
    assert capsys.readouterr() == ("", f"broker-tck: pulsar-4.0.9/in-memory: {guess}\n")
    assert chosen_profiles(untried, "heap") == ("heap",)
    assert capsys.readouterr() == ("", "")


def test_class_that_no_profile_describes_is_no_subject(cli: Cli, folder: Path) -> None:
    name = "pulsar-3.1.0/negative-acks"
    assert complaint(cli, "check", "--subject", name).startswith(
        f"{name}: no class 'negative-acks' of Pulsar 3.1.0 is a subject; there are: in-memory, cursor-heap, and "
    )


# ---- Java


def test_java_that_is_not_there(installed: Path, folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "HOMES", ())
    monkeypatch.setattr(subject, "imported", lambda: None)
    assert complaint(cli, "check", "--subject", IN_MEMORY) == (
        f"{IN_MEMORY}: Java 17 or later is needed (none was found); install one "
        "(apt-get install openjdk-17-jre-headless) or set JAVA_HOME"
    )


def test_java_that_is_too_old(installed: Path) -> None:
    with pytest.raises(Unavailable, match=r"^Java 21 or later is needed \(Java 11, Java 17, Java 21\); install one "):
        java.found(21)


def test_newest_java_is_found_or_that_of_the_environment(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert java.found(8) == (installed / "java-17.0.9", 17)
    java.found.cache_clear()
    monkeypatch.setenv("JAVA_HOME", str(installed / "java-11.0.2"))
    assert java.found(8) == (installed / "java-11.0.2", 11)
    assert java.found(12) == (installed / "java-17.0.9", 17)


@pytest.mark.parametrize(("version", "needed"), [("3.0.7", 17), ("4.2.4", 17), ("5.0.0-M1", 21), ("5.0.1", 21)])
def test_release_says_which_java_it_needs(version: str, needed: int) -> None:
    assert Release(version).java == needed
