"""Pages are followed word by word: classes are compiled, and their races go away or appear as the pages show."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from conftest import Cli
from jvm.compiling import jdk
from test_docs import BLOCK, DOCS, REPO

BEGINS = re.compile(r"^(?:\$ |(?=mvn|unzip|sed|javac))", flags=re.MULTILINE)
EXAMPLE = REPO / "examples" / "java-threads"


def section(page: str, heading: str) -> tuple[str, str]:
    """What is in a page before a section, and the section."""
    before, _, rest = (DOCS / page).read_text(encoding="utf-8").partition(f"\n## {heading}\n")
    return before, rest.partition("\n## ")[0]


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Each command in the blocks of a text, with what it prints; nothing if that is not shown."""
    for block in re.findall(BLOCK, text):
        if block.startswith(("```sh", "```console")):
            for part in filter(None, BEGINS.split(block.partition("\n")[2].removesuffix("```"))):
                command, _, told = part.strip().partition("\n")
                yield command, told


def follow(commands: Iterable[tuple[str, str]], folder: Path) -> None:
    """Give each command in a folder, and see that it prints what is shown, and that a race is exit status 1."""
    path = os.pathsep.join((str(Path(sys.executable).parent), str(jdk() / "bin"), os.environ["PATH"]))
    options = {"env": os.environ | {"PATH": path}, "capture_output": True, "text": True}
    for command, told in commands:
        if command.startswith("cd "):
            folder /= command.removeprefix("cd ")
            continue
        done = subprocess.run(["bash", "-c", command], check=False, cwd=folder, **options)  # type: ignore[call-overload]
        if command.startswith("mvn") and done.returncode and not os.environ.get("CI"):
            pytest.skip(f"{command}: {done.stdout}{done.stderr}")
        pattern = re.escape(told).replace("…", ".*") or ".*"
        assert re.fullmatch(pattern, done.stdout.strip(), flags=re.DOTALL), f"{command} prints {done.stdout}"
        assert done.returncode == ("\nRACE " in told), f"{command}: {done.stderr}"


@pytest.mark.deep
def test_races_of_a_patch(tmp_path: Path) -> None:
    """The commands of the page build a patch with Maven, and say which races it has."""
    before, races = section("patch.md", "Races of your patch")
    lombok = [each for each in commands(before) if each[0].startswith("mvn") and "lombok" in each[0]]
    follow([*lombok, *commands(races)], tmp_path)


def test_races_of_a_class_of_your_own(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "examples" / "java-threads", ignore=shutil.ignore_patterns("classes"))
    follow(commands(section("threads.md", "A class of your own")[1]), tmp_path)


def test_a_class_of_your_own_is_shown_as_it_is() -> None:
    files = [*EXAMPLE.rglob("*.java"), *EXAMPLE.glob("*.py")]
    known = {line for file in files for line in file.read_text(encoding="utf-8").splitlines()}
    blocks = re.findall(
        r"```(?:java|python)\n(.*?)```", section("threads.md", "A class of your own")[1], flags=re.DOTALL
    )
    shown = "".join(blocks).splitlines()
    assert len(shown) > 20
    assert set(shown) <= known


BOX = """
from pathlib import Path
from broker_tck.implementations.jvm.box import JavaBox
mine = JavaBox(contract={contract!r}, box={box!r}, woven=({woven!r},), classpath=(Path({classes!r}),))
"""


@pytest.mark.parametrize(
    ("declared", "complaint"),
    [
        ({"classes": "nowhere"}, "nowhere: there is no such folder or jar of class files; is it compiled?"),
        ({"woven": "Odd"}, "odd.SharedBox: no class on its class path begins with Odd"),
        ({"box": "odd.Times", "woven": "odd.Shared"}, "odd.Times must implement broker_tck.threads.Box, and have a"),
        ({"box": "odd.None"}, "odd.None: cannot be loaded: java.lang.ClassNotFoundException: odd.None"),
        ({"contract": "topic-delivery"}, "topic-delivery promises nothing of calls of several threads; "),
    ],
)
def test_what_is_wrong_with_a_declaration_is_a_clear_line(
    declared: dict[str, str], complaint: str, cli: Cli, odd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = {"contract": "active-cursors", "box": "odd.SharedBox", "woven": "odd.Shared", "classes": str(odd)}
    (tmp_path / "boxes.py").write_text(BOX.format(**right | declared), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "boxes", raising=False)
    status, out, err = cli("threads", "--subject", "boxes:mine", "--programs", "1")
    assert (status, out) == (2, "")
    assert err.startswith(f"broker-tck: {complaint}")
    assert err.count("\n") == 1


def test_threads_alone_call_a_box(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLE)
    status, out, err = cli("check", "--subject", "readers:slowest_reader", "--walks", "1", "--examples", "0")
    assert (status, out) == (2, "")
    assert err == "broker-tck: readers:slowest_reader: threads alone can call a box: broker-tck threads --subject …\n"
