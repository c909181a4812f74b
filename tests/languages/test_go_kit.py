"""The kit for authors in Go, with a real Go: its own tests, what ``init`` writes, and its page."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Cli

from broker_tck import check
from broker_tck.implementations.go.project import CONTRACTS, KIT

PAGE = Path(__file__).parents[2] / "docs" / "go.md"


@pytest.fixture(autouse=True)
def _alone(go: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No network, and `broker-tck` by its name."""
    monkeypatch.setenv("GOPROXY", "off")
    monkeypatch.setenv("PATH", os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])))


def test_sources_are_formatted(go: Path) -> None:
    done = subprocess.run([go / "bin" / "gofmt", "-l", KIT.parent], capture_output=True, text=True, check=True)
    assert done.stdout == ""


def test_rig_passes_its_own_tests_and_go_vet() -> None:
    subprocess.run(["go", "test", "-vet=all", "./..."], cwd=KIT, check=True)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_first_subject_builds_without_a_network_and_conforms(contract: str, cli: Cli, tmp_path: Path) -> None:
    status, _, _ = cli("init", tmp_path / "mine", "--language", "go", "--contract", contract)
    assert status == 0
    subprocess.run(["go", "build"], cwd=tmp_path / "mine", check=True)
    result = check(f"exec:{tmp_path}/mine/adapter", walks=60, examples=0)
    assert result.verdict == "conforms"
    (profile,) = result.profiles
    assert "shows_kept=false" in profile.left_out


def commands(page: Path) -> Iterator[tuple[str, list[str]]]:
    """Each command of a page, with the lines that it prints."""
    for block in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
        for part in block.removeprefix("$ ").split("\n$ "):
            first, *rest = part.rstrip("\n").splitlines()
            yield first, rest


def test_page_is_followed_word_by_word(tmp_path: Path) -> None:
    """Each command of the page prints what the page shows, and changes the file that it says it changes."""
    folder = tmp_path
    for command, told in commands(PAGE):
        words = shlex.split(command)
        if words[0] == "cd":
            folder /= words[1]
            continue
        before = {file: file.read_bytes() for file in folder.glob("*.go")}
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        pattern = "\n".join(".*" if line == "…" else re.escape(line).replace("…", ".*") for line in told)
        assert re.fullmatch(pattern, done.stdout.rstrip("\n"), flags=re.DOTALL), f"{command} prints {done.stdout}"
        assert done.returncode == ("0 of 1 conform" in told), command
        assert (words[0] == "sed") == any(file.read_bytes() != text for file, text in before.items()), command


def test_tracker_that_locks_itself_is_told_at_once(cli: Cli, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    cli("init", mine, "--language", "go", "--contract", "negative-acks")
    tracker = mine / "tracker.go"
    text = tracker.read_text(encoding="utf-8")
    call = "\tt.consumer.OnNegativeAcksSend(ids)\n"
    assert call in text
    tracker.write_text(text.replace(call, f"\tt.mutex.Lock()\n{call}\tt.mutex.Unlock()\n"), encoding="utf-8")
    subprocess.run(["go", "build"], cwd=mine, check=True)
    status, out, _ = cli("check", "--subject", f"exec:{mine}/adapter", "--fail-fast")
    assert status == 1
    assert "NA-35 is broken" in out
    assert "[sync.Mutex.Lock]:" in out
    assert "tracker.go:" in out


def test_what_is_printed_is_no_answer(cli: Cli, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    cli("init", mine, "--language", "go")
    tracker = mine / "tracker.go"
    text = tracker.read_text(encoding="utf-8").replace("import (\n", 'import (\n\t"fmt"\n')
    start = ") brokertck.DelayedDeliveryTracker {\n"
    assert start in text
    tracker.write_text(text.replace(start, f'{start}\tfmt.Println("hello")\n'), encoding="utf-8")
    subprocess.run(["go", "build"], cwd=mine, check=True)
    status, _, _ = cli("replay", "--subject", f"exec:{mine}/adapter", "delayed-delivery; has")
    assert status == 0


def test_init_leaves_what_is_there(cli: Cli, tmp_path: Path) -> None:
    shutil.copy(KIT / "go.mod", tmp_path)
    status, _, err = cli("init", tmp_path, "--language", "go")
    assert status == 2
    assert "go.mod: exists already" in err
