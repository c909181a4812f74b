"""Writes what is made of CONTRIBUTING.md: what tox costs, and the deep tests. ``python scripts/contributing.py``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import costs

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
DEEP = "pytest.mark.deep"


def tox() -> Iterator[str]:
    """The table of the environments, and the slowest tests."""
    kept = costs.kept()
    run = kept["measured"]
    yield from (f"Measured on {run['date']}, {run['machine']}:", "", *costs.table(run, kept["budgets"]), "")
    yield from ("<details><summary>The slowest tests, in seconds of processors</summary>", "", "```text")
    yield from (*costs.slowest(run), "```", "", "</details>")


def deep() -> Iterator[str]:
    """The deep tests, each with what it shows: the first line of its docstring, or else its name in words."""
    yield from ("| test | what it shows |", "| --- | --- |")
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for test in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(test, ast.FunctionDef) and any(DEEP in ast.unparse(mark) for mark in test.decorator_list):
                shows = (ast.get_docstring(test) or test.name.removeprefix("test_").replace("_", " ")).splitlines()[0]
                yield f"| `{path.relative_to(ROOT)}::{test.name}` | {shows[0].upper()}{shows[1:].removesuffix('.')} |"


PARTS = {"tox": tox, "deep": deep}


def page(text: str) -> str:
    """The page with its made parts as they are now."""
    for name, made in PARTS.items():
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
        before, _, rest = text.partition(begin)
        text = before + begin + "".join(f"{line}\n" for line in made()) + end + rest.partition(end)[2]
    return text


def write() -> None:
    """Write the page."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write()
