"""Figures on the pages that have moved are found; seconds are compared as multiples of a loop."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The module of the command, with one bench that measured 90 and 100 seconds before; it is in no package."""
    monkeypatch.syspath_prepend(DOCS)
    module = import_module("figures")
    monkeypatch.setattr(module, "BENCHES", {"commands": lambda folder: told(module, 1, 90, 100)})
    known = {"commands": {"table": module.spread(told(module, 1, 90, 100))}}
    monkeypatch.setattr(module, "benches", lambda: known)
    return module


def told(module: ModuleType, loop: float, first: float, second: float) -> Any:
    rows = {module.YARDSTICK: loop, "first": first, "second": second}
    return {row: {module.SECONDS: [value, value * 0.9, value * 1.2]} for row, value in rows.items()}


@pytest.mark.parametrize(
    ("loop", "second", "moved"),
    [(1, 132, []), (1, 135, ["second: 100 -> 135"]), (1, 65, ["second: 100 -> 65"]), (2, 200, ["first: 90 -> 45"])],
)
def test_figure_that_has_moved_by_a_third_is_found(
    figures: ModuleType, loop: float, second: float, moved: list[str]
) -> None:
    figures.BENCHES["commands"] = lambda folder: told(figures, loop, 90, second)
    done = CliRunner().invoke(figures.main, ["commands", "--check"])
    assert done.exit_code == bool(moved)
    lines = [line.replace("commands: ", "").replace(f", {figures.SECONDS}", "") for line in done.output.splitlines()]
    assert lines[1:-1] == moved


def test_row_that_came_or_went_has_moved(figures: ModuleType) -> None:
    lines = [*figures.moves("cache", {"old": {"times": [1, 1, 1]}}, {"new": {"times": [2, 1, 3]}})]
    assert lines == ["cache: old, times: 1 -> none", "cache: new, times: none -> 2"]


def test_every_bench_is_shown_on_a_page_and_measured(figures: ModuleType) -> None:
    page = import_module("figures_page")
    shown = {name for path in DOCS.glob("*.md") for name in page.BLOCK.findall(path.read_text(encoding="utf-8"))}
    assert shown == {measure.__name__ for measure in figures.HEADS} == page.benches().keys()


def test_block_tells_figures_with_their_spread(figures: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    page = import_module("figures_page")
    table = {"a": {"x": [1234.5, 0.04567, 5000], "y": [2, 2, 2]}, "b": {"x": [0, 0, 0]}}
    bench = {"cache": {"head": "what", "date": "2026-01-02", "machine": "a machine", "table": table}}
    monkeypatch.setattr(page, "benches", lambda: bench)
    text = page.filled("A\n<!-- figures: cache -->old<!-- end of figures -->\nB")
    assert "| what | x | y |\n| --- | ---: | ---: |\n| a | 1,234 (0.0457 to 5,000) | 2 |\n| b | 0 | - |\n" in text
    assert "2026-01-02: a machine." in text
    assert page.filled(text) == text
    assert (text[:2], text[-2:], "old" in text) == ("A\n", "\nB", False)
