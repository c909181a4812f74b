"""What the Go rig makes of trackers that lock themselves, print, or are there already, with a real Go."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Cli

from broker_tck.implementations.kits import KITS


@pytest.fixture(autouse=True)
def _alone(toolchain: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """There is a Go, and no network."""
    toolchain("go")
    monkeypatch.setenv("GOPROXY", "off")


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
    shutil.copy(KITS["go"].folder / "go.mod", tmp_path)
    status, _, err = cli("init", tmp_path, "--language", "go")
    assert status == 2
    assert "go.mod: exists already" in err
