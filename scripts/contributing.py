"""Writes two parts of CONTRIBUTING.md: what tox costs, and the deep tests. ``python scripts/contributing.py``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import costs

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
DEEP = ("pytest.mark.deep", "subjects(")
"""What marks tests; ``subjects`` of tests/jvm/same.py marks all but one of the releases that have the same class."""


def tox() -> Iterator[str]:
    """The table of the environments, and the slowest tests."""
    kept = costs.kept()
    run = kept["measured"]
    yield from (f"Measured on {run['date']}, {run['machine']}:", "", *costs.table(run, kept["budgets"]), "")
    yield from ("<details><summary>The slowest tests, in processor-seconds</summary>", "", "```text")
    yield from (*costs.slowest(run), "```", "", "</details>")


def deep() -> Iterator[str]:
    """The tests that are deep, or some of whose parameters are, each with what it shows."""
    yield from ("| test | what it shows |", "| --- | --- |")
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for name, shows in deep_in(ast.parse(path.read_text(encoding="utf-8")).body):
            yield f"| `{path.relative_to(ROOT)}::{name}` | {shows} |"


def deep_in(module: Sequence[ast.stmt]) -> Iterator[tuple[str, str]]:
    """The names of a module's deep tests, and the first line of each docstring. ValueError if a test has none."""
    values: dict[str, str] = {}
    for each in module:
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name):
            values[each.targets[0].id] = ast.unparse(each.value)
        elif isinstance(each, ast.FunctionDef) and each.name.startswith("test_"):
            marks = " ".join(map(ast.unparse, each.decorator_list))
            marks += "".join(value for name, value in values.items() if re.search(rf"\b{name}\b", marks))
            if any(word in marks for word in DEEP):
                shows = ast.get_docstring(each)
                if not shows:
                    raise ValueError(f"{each.name} is deep, and has no docstring that says what it shows")
                yield each.name, shows.splitlines()[0]


PARTS = {"tox": tox, "deep": deep}


def page(text: str) -> str:
    """The page with these parts as they are now."""
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
