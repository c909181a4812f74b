"""The kits for authors, with real toolchains: their own tests, what ``init`` writes, their pages, and an example."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import native_trackers
import pytest
from conftest import Cli

from broker_tck import check
from broker_tck.implementations.kits import CONTRACTS, KITS

DOCS = Path(__file__).parents[2] / "docs"
STRICT = "CXXFLAGS=-O2 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
BUILD = {"go": ["go build"], "cpp": [f"make {STRICT!r}"], "rust": ["cargo build --release"], "node": []}
PROGRAM = {"go": "{}/adapter", "cpp": "{}/adapter", "rust": "{}/target/release/adapter", "node": "node {}/main.js"}
CHUNKS_LOST = {
    "go": ("tracker.go", "[id.Position] = id.Chunks", "[id.Position] = nil"),
    "cpp": ("tracker.hpp", "if (!id.chunks.empty()) chunks = id.chunks;", "(void)chunks;"),
    "rust": ("src/tracker.rs", "if !id.chunks.is_empty()", "if false"),
    "node": ("tracker.js", "chunks.length ? chunks : [[ledger, entry]]", "[[ledger, entry]]"),
}
"""A line of each tracker of negative acks, and the same without the chunks of a message."""


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Go has no network, crates are compiled once, and `broker-tck` is found by its name."""
    monkeypatch.setenv("GOPROXY", "off")
    monkeypatch.setenv("CARGO_BUILD_BUILD_DIR", str(tmp_path_factory.getbasetemp() / "cargo"))
    monkeypatch.setenv("PATH", os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])))


def run(folder: Path, *commands: str) -> None:
    for command in commands:
        done = subprocess.run(shlex.split(command), cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


def test_go_rig(toolchain: Callable[[str], None]) -> None:
    toolchain("go")
    kit = KITS["go"].folder
    run(kit, "go test -vet=all ./...")
    done = subprocess.run(["gofmt", "-l", kit.parent], capture_output=True, text=True, check=True)
    assert done.stdout == ""


def test_cpp_rig(toolchain: Callable[[str], None], tmp_path: Path) -> None:
    toolchain("cpp")
    warnings = STRICT.removeprefix("CXXFLAGS=-O2 ").replace("-Wshadow -Wconversion ", "")
    tests = KITS["cpp"].folder / "tests" / "rig_test.cpp"
    run(tmp_path, f"g++ -std=c++17 -pthread {warnings} -o rig_test {tests}", "./rig_test")


def test_rust_rig(toolchain: Callable[[str], None], cli: Cli, tmp_path: Path) -> None:
    toolchain("rust")
    for contract in CONTRACTS:
        cli("init", tmp_path / contract, "--language", "rust", "--contract", contract)
        run(tmp_path / contract, "cargo fmt --all --check")
    run(tmp_path / CONTRACTS[0], "cargo test --workspace", "cargo clippy --workspace --all-targets -- -D warnings")


def test_node_rig(toolchain: Callable[[str], None]) -> None:
    toolchain("node")
    run(KITS["node"].folder, "node --test tests/")


@pytest.mark.parametrize("language", KITS)
def test_tracker_of_negative_acks_conforms_and_a_bug_of_one_line_is_found(
    language: str, toolchain: Callable[[str], None], cli: Cli, tmp_path: Path
) -> None:
    toolchain(language)
    cli("init", tmp_path, "--language", language, "--contract", "negative-acks")
    run(tmp_path, *BUILD[language])
    subject = f"exec:{PROGRAM[language].format(tmp_path)}"
    result = check(subject, walks=60, examples=0)
    assert result.verdict == "conforms"
    (profile,) = result.profiles
    assert profile.golden.agreed == profile.golden.steps > 0

    name, old, new = CHUNKS_LOST[language]
    text = (tmp_path / name).read_text(encoding="utf-8")
    assert text.count(old) == 1
    (tmp_path / name).write_text(text.replace(old, new), encoding="utf-8")
    run(tmp_path, *BUILD[language])
    status, out, _ = cli("check", "--subject", subject, "--fail-fast")
    assert status == 1
    assert "NA-06 is broken" in out


def sections() -> Iterator[tuple[str, str]]:
    """Each language that a page tells how to begin with, and what it tells."""
    yield "go", (DOCS / "go.md").read_text(encoding="utf-8")
    for section in (DOCS / "languages.md").read_text(encoding="utf-8").split("\n## ")[1:]:
        if found := re.search(r"--language (\w+)", section):
            yield found[1], section


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a text, with the lines that it prints."""
    for block in re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL):
        for part in block.removeprefix("$ ").split("\n$ "):
            first, *rest = part.rstrip("\n").splitlines()
            yield first, rest


@pytest.mark.parametrize("language", KITS)
def test_page_is_followed_word_by_word(language: str, toolchain: Callable[[str], None], tmp_path: Path) -> None:
    toolchain(language)
    follow(dict(sections())[language], tmp_path)


def follow(text: str, folder: Path) -> None:
    """See that each command of a text prints what it shows, and changes a tracker if it says so."""
    for command, told in commands(text):
        words = shlex.split(command)
        if words[0] == "cd":
            folder /= words[1]
            continue
        before = {file: file.read_bytes() for file in folder.rglob("tracker.*")}
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        pattern = "\n".join(".*" if line == "…" else re.escape(line).replace("…", ".*") for line in told)
        assert re.fullmatch(pattern, done.stdout.rstrip("\n"), flags=re.DOTALL), f"{command} prints {done.stdout}"
        assert done.returncode == ("0 of 1 conform" in told), f"{command}: {done.stderr}"
        assert (words[0] in ("sed", "cp")) == any(file.read_bytes() != text for file, text in before.items()), command


# ---- The trackers that are written for speed


@pytest.mark.parametrize("language", native_trackers.FAST)
def test_fast_tracker_is_built_as_its_page_says(
    language: str, toolchain: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolchain(language)
    monkeypatch.setenv(*STRICT.split("=", 1))
    example = shutil.copytree(native_trackers.EXAMPLE, tmp_path / "example")
    blocks = (example / "README.md").read_text(encoding="utf-8").split("\n\n")
    (block,) = [each for each in blocks if f"--language {language}" in each]
    follow(block, example)


@pytest.mark.parametrize("language", native_trackers.FAST)
def test_fast_tracker_of_negative_acks_conforms(
    language: str, toolchain: Callable[[str], None], tmp_path: Path
) -> None:
    toolchain(language)
    result = check(native_trackers.built(language, "negative-acks", tmp_path), walks=60, examples=0)
    assert result.verdict == "conforms"
    (profile,) = result.profiles
    assert profile.golden.agreed == profile.golden.steps > 0
