"""Stores as others see them: on S3, by a command that is killed, and read by libraries that know Delta.

Processes of this machine run the campaigns; Spark has no part in it.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from campaigns.cluster import Command, eventually, outcome
from campaigns.conftest import Run, Start
from kit import ROOT

from broker_tck.spark_fuzz.store.tables import Store

ROUNDS = 3
SUBJECTS = ("--subject", "time-bucket", "--subject", "mutant:strict-rounded-down")
SIZES = ("--executor", "processes", "--operations", "60000", "--rounds", str(ROUNDS), "--shards", "2")
PAGE = ROOT / "docs" / "open-the-tables.md"
FOUND, REFUSED = 1, 2


def begun(where: Any, *more: Any) -> tuple[Any, ...]:
    """The words that begin the campaign."""
    return ("fuzz", "--store", where, *SUBJECTS, *SIZES, *more)


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of a campaign that nobody disturbed."""
    where = tmp_path_factory.mktemp("reference") / "night"
    assert Command(where.parent, *begun(where)).end().status == FOUND
    return where


def listens(port: int) -> bool:
    """Whether anybody listens there on loopback."""
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A bucket on a server of S3 on loopback."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {"ENDPOINT_URL": f"http://127.0.0.1:{port}", "ALLOW_HTTP": "true", "REGION": "us-east-1"}
    for name, value in (settings | {"ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b"}).items():
        monkeypatch.setenv(f"AWS_{name}", value)
    words = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: listens(port), "a server")
        boto3.client("s3", region_name="us-east-1").create_bucket(Bucket="bucket")
        yield "s3://bucket"
    finally:
        server.kill()
        server.communicate()


def test_campaign_on_s3_is_killed_and_resumed_to_the_very_same_rows(
    reference: Path, bucket: str, start: Start, run: Run
) -> None:
    where = f"{bucket}/night"
    driver = start(*begun(where))
    eventually(lambda: Store(where).rounds() > 0, "a round")
    with driver.held():
        refused = run("fuzz", "resume", where, "--executor", "processes")
        driver.kill()
    how = rf"process {driver.process.pid} on .* drives this campaign; `broker-tck watch {where}` shows its progress"
    assert re.fullmatch(rf"broker-tck: {where}: {how}\n", refused.err), refused.err
    assert (refused.status, Store(where).rounds() < ROUNDS) == (REFUSED, True), "it was killed before its end"
    assert run("fuzz", "stop", where).out == f"{where}: no process drives this campaign\n"
    again = where.replace("s3:", "s3a:")
    assert run("fuzz", "resume", again, "--executor", "processes").status == FOUND
    assert outcome(where) == outcome(reference)
    watched = json.loads(run("watch", where, "--json").out)
    assert (watched["rounds"], watched["driver"]) == (ROUNDS, "")

    assert run(*begun(f"{bucket}/other", "--seed", "1")).status == FOUND
    merged = run("fuzz", "merge", where, f"{bucket}/other", "--into", f"{bucket}/both")
    assert merged == (0, f"{bucket}/both: 2 campaigns, {2 * ROUNDS} rounds\n", "")


@pytest.mark.parametrize(
    ("setting", "where", "says"),
    [
        ({}, "s3://none/night", "table campaign cannot be read: The specified bucket does not exist"),
        ({}, "s3://bucket/none", "has no campaign; `broker-tck fuzz --store s3://bucket/none` starts one"),
        (
            {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"},
            "s3://bucket/night",
            r"table campaign cannot be read: .*Connection refused \(os error \d+\)",
        ),
        ({}, "viewfs://bucket/night", "table campaign cannot be read: .*No viewfs fallback mount found"),
    ],
)
def test_object_store_that_cannot_be_read_is_told_in_a_line(
    bucket: str, monkeypatch: pytest.MonkeyPatch, setting: dict[str, str], where: str, says: str
) -> None:
    for name, value in setting.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(Exception, match=f"^{where}: {says}$"):
        _ = Store(where).manifest


@pytest.mark.parametrize("reader", ["polars", "pandas", "DuckDB"])
def test_example_of_the_page_reads_a_store_without_the_kit(reference: Path, reader: str) -> None:
    """What it prints is on the page, for the campaign that the page runs is this one."""
    page = PAGE.read_text(encoding="utf-8")
    part = page.partition(f"\n## {reader}\n")[2]
    code, told = re.findall(r"```(?:python|text)\n(.*?)\n```", part, re.DOTALL)[:2]
    assert "broker_tck" not in code
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("POLARS", "COLUMNS"))}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=reference.parent, env=environment, capture_output=True, text=True, check=True
    )
    assert [line.rstrip() for line in done.stdout.splitlines() if line.strip()] == told.splitlines()
    assert all(word in page for word in (*SUBJECTS[1::2], "--operations 60000", f"--rounds {ROUNDS}", "--shards 2"))
