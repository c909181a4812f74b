"""The benchmark of trackers in other languages, small: it fills rows of the table on the page."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import native_trackers
import pytest
from kit import ROOT, on_linux


@on_linux
def test_tracker_is_measured(toolchain: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    toolchain("node")
    here: dict[str, dict[str, str]] = {
        contract: dict([next(iter(subjects.items()))]) for contract, subjects in native_trackers.HERE.items()
    }
    monkeypatch.setattr(native_trackers, "HERE", here)
    monkeypatch.setattr(native_trackers, "WARMING", 2)

    def fresh(part: Callable[..., Any], *arguments: Any) -> Any:
        return part(*arguments)

    monkeypatch.setattr(native_trackers, "fresh", fresh)
    result = native_trackers.native(1, 4, 2_600, ("node",))
    kept = json.loads((ROOT / "docs" / "figures.json").read_text(encoding="utf-8"))["native"]["table"]
    assert {row: [*cells] for row, cells in result.table.items()} == {row: [*kept[row]] for row in result.table}
    assert len(result.table) == 4
    assert "node " in result.versions
