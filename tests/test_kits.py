"""The kits for authors in other languages: their files, and what ``init`` says. ``tests/languages`` builds them."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Cli

from broker_tck.implementations.kits import CONTRACTS, KITS


@pytest.mark.parametrize("language", KITS)
@pytest.mark.parametrize("contract", CONTRACTS)
def test_init_writes_a_tracker_its_main_and_the_rig(language: str, contract: str, cli: Cli, tmp_path: Path) -> None:
    status, out, _ = cli("init", tmp_path / "mine", "--language", language, "--contract", contract)
    assert status == 0
    kit = KITS[language]
    assert f"next: cd {tmp_path / 'mine'} && {kit.then}" in out
    written = {file.relative_to(tmp_path / "mine").as_posix() for file in tmp_path.rglob("*") if file.is_file()}
    assert written == {*kit.files(contract)}
    assert {"main", "tracker"} < {Path(file).stem for file in written if kit.rig not in file}
    assert not [file for file in written if "_test" in file or file.startswith("tests/")]


@pytest.mark.parametrize("language", KITS)
def test_missing_toolchain_is_said_with_the_command_that_installs_it(
    language: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    status, out, _ = cli("init", tmp_path / "mine", "--language", language)
    assert status == 0
    assert out.splitlines()[-1] == KITS[language].needed


@pytest.mark.parametrize("language", KITS)
def test_init_says_which_contracts_have_a_rig(language: str, cli: Cli, tmp_path: Path) -> None:
    status, _, err = cli("init", tmp_path / "mine", "--language", language, "--contract", "entry-cache")
    assert status == 2
    assert f"the kit for {KITS[language].title} has no entry-cache; there are: {', '.join(CONTRACTS)}" in err
    assert not (tmp_path / "mine").exists()
