"""The kit's own classes of Java are what their sources say."""

from __future__ import annotations

from pathlib import Path

from jvm.compiling import javac

from broker_tck.implementations.jvm.loader import CLASSES


def test_classes_are_compiled_from_their_sources(tmp_path: Path) -> None:
    """CONTRIBUTING.md has the command that compiles them anew."""
    options = ["-g:none", "-implicit:none", "-sourcepath", str(CLASSES.parent / "stubs")]
    javac(CLASSES.parent / "sources", tmp_path, options)
    assert files(tmp_path) == files(CLASSES)


def files(folder: Path) -> dict[str, bytes]:
    """The content of all files below a folder, by their paths."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
