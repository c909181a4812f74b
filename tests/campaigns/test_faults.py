"""Whatever happens to a campaign, what it comes to in the end is what it comes to when nothing happens."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from campaigns.cluster import (
    PROCESSES,
    ROUNDS,
    SUBJECTS,
    Ended,
    after_rounds,
    campaign,
    eventually,
    files,
    kill,
    outcome,
    processes,
    same,
    walking,
    whole,
)
from campaigns.conftest import Run, Start
from conftest import Cli

from broker_tck.spark_fuzz.driver.manifest import FORMAT, Manifest, encoded
from broker_tck.spark_fuzz.store.tables import MANIFEST, Store

FOUND, REFUSED, INTERRUPTED = 1, 2, 130
GO_ON = "`broker-tck fuzz resume store` goes on after the last whole round"


def refused(ended: Ended | tuple[int, str, str], *words: str) -> None:
    """A command was turned away in one line."""
    ended = Ended(*ended)
    assert (ended.status, ended.out) == (REFUSED, ""), ended.err
    assert ended.err.startswith("broker-tck: ")
    assert ended.err.count("\n") == 1, ended.err
    assert [word for word in words if word not in ended.err] == [], ended.err


def test_undisturbed_run_finds_what_there_is_to_find(reference: Path) -> None:
    found = outcome(reference)
    assert found["rounds"] == ROUNDS
    assert len(found["states"]) > 500
    wrong = {subject for subject in SUBJECTS if any(subject in finding for finding in found["findings"])}
    assert wrong == {*SUBJECTS[1:]}


# ---- Processes that die in the middle of a round


def test_workers_that_die_change_nothing(reference: Path, start: Start, tmp_path: Path) -> None:
    store = tmp_path / "store"
    driver = start(*campaign("store", *PROCESSES))
    for number in range(ROUNDS - 1):  # the last round may be over before a look sees it
        workers = eventually(lambda n=number: after_rounds(store, n, tmp_path), f"shards after {number} rounds", driver)
        kill([workers[0].pid])
    ended = driver.end()
    assert (ended.status, ended.err) == (FOUND, "")
    same(store, reference)
    assert not processes(tmp_path), "what they had started has ended as well"


def test_driver_that_dies_is_resumed_after_the_last_whole_round(
    reference: Path, start: Start, run: Run, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    begin = campaign("store", *PROCESSES)
    for number in range(ROUNDS - 1):  # the last round may be over before a look sees it
        driver = start(*begin)
        eventually(lambda n=number: after_rounds(store, n, tmp_path), f"shards after {number} rounds", driver)
        driver.kill()
        eventually(lambda: not processes(tmp_path), "the end of what it had started")
        begin = ["fuzz", "resume", "store", *PROCESSES]
    assert run(*begin).status == FOUND
    same(store, reference)


# ---- Drivers that are told to end, and second ones


def test_stopped_and_interrupted_campaign_is_resumed(reference: Path, start: Start, run: Run, tmp_path: Path) -> None:
    store = tmp_path / "store"
    driver = start(*campaign("store", *PROCESSES))
    eventually(lambda: walking(tmp_path), "shards of the first round", driver)
    with driver.held():
        process = f"process {driver.process.pid} on "
        refused(run("fuzz", "resume", "store", *PROCESSES), process, "`broker-tck watch store` shows its progress")
        refused(run(*campaign("store", *PROCESSES)), "holds a campaign already; `broker-tck fuzz resume store`")
        assert json.loads(run("watch", "store", "--json").out)["driver"].startswith(process)
        assert run("fuzz", "stop", "store").out.startswith(f"store: {process}")
    assert driver.end().status == FOUND
    stopped = whole(store)
    assert stopped < ROUNDS

    driver = start("fuzz", "resume", "store", *PROCESSES)
    eventually(lambda: walking(tmp_path), "shards after that", driver)
    ended = driver.interrupt()
    assert (ended.status, ended.out) == (INTERRUPTED, "")
    assert [line for line in ended.err.splitlines() if line] == [f"broker-tck: {GO_ON}", "broker-tck: interrupted"]
    assert whole(store) < ROUNDS

    assert run("fuzz", "resume", "store", *PROCESSES).status == FOUND
    same(store, reference)
    assert run("watch", "store").out.endswith("; no process drives it\n")


def test_interrupt_ends_shards_that_would_take_hours(start: Start, tmp_path: Path) -> None:
    limits = ["--rounds", 1, "--shards", 3, "--operations", 10**12]
    driver = start("fuzz", "--store", "store", "--subject", "time-bucket", *limits, *PROCESSES)
    eventually(lambda: len(walking(tmp_path)) == 2, "two shards", driver)
    ended = driver.interrupt()
    assert (ended.status, ended.out) == (INTERRUPTED, "")
    assert [line for line in ended.err.splitlines() if line] == [f"broker-tck: {GO_ON}", "broker-tck: interrupted"]
    assert not processes(tmp_path)


# ---- Stores that refuse


def changed(manifest: Manifest, **changes: Any) -> str:
    """A manifest as text, changed."""
    return json.dumps(json.loads(encoded(manifest)) | changes)


DAMAGES: dict[str, tuple[Callable[[Manifest], str], str]] = {
    "of another version": (lambda known: changed(known, format=FORMAT + 1), f"a store of format {FORMAT + 1}"),
    "of several campaigns": (
        lambda known: changed(known, merged=[msgspec.to_builtins(known)] * 2),
        "holds 2 merged campaigns, so it cannot make rounds",
    ),
}


@pytest.mark.parametrize("kind", [*DAMAGES, "that is none"])
def test_store_that_is_not_understood_is_left_alone(reference: Path, cli: Cli, tmp_path: Path, kind: str) -> None:
    store, page = tmp_path / "store", tmp_path / "page.html"
    says = "has no campaign; `broker-tck fuzz --store"
    if kind in DAMAGES:
        damage, says = DAMAGES[kind]
        Store(str(store)).note([], (MANIFEST, damage(Store(str(reference)).manifest)))
    before = files(tmp_path)
    looks = () if kind == "of several campaigns" else (("watch",), ("report", "-o", page))
    for command in (("fuzz", "resume"), ("fuzz", "stop"), *looks):
        refused(cli(*command, store), str(store), says)
    assert files(tmp_path) == before


def test_campaign_of_other_code_is_not_resumed_but_can_be_watched(reference: Path, run: Run, tmp_path: Path) -> None:
    known = Store(str(reference)).manifest
    for what, code, says in (
        ("kit", {"digest": "0" * 16}, ("cannot continue with different code of broker-tck", "0" * 16)),
        (
            "subject",
            {"subjects": {SUBJECTS[2]: "0" * 16}},
            (f"cannot continue with different code of the subject {SUBJECTS[2]}",),
        ),
    ):
        store = tmp_path / what
        other = msgspec.structs.replace(known, code=msgspec.structs.replace(known.code, **code))
        Store(str(store)).note([], (MANIFEST, encoded(other)))
        before = files(store)
        refused(run("fuzz", "resume", what, *PROCESSES), f"{what}: ", *says)
        assert run("watch", what).out.startswith(f"{what}: 0 rounds, ")
        assert files(store) == before
