"""What sessions of Spark do before there is one: reasons in a line, archives that are kept, settings of clusters."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from types import SimpleNamespace
from zipfile import ZipFile

import pytest

from broker_tck.implementations.bundled import BUNDLED
from broker_tck.properties.errors import BadInput
from broker_tck.spark_fuzz.executors import session
from broker_tck.spark_fuzz.executors.ship import settings, ship, write

NO_HADOOP = 'Exception in thread "main" org.apache.spark.SparkException: HADOOP_CONF_DIR must be set\n\tat org.apache'
GIVING_UP = "up\n2026-11-27 01:39:57 ERROR StandaloneSchedulerBackend: All masters are unresponsive! Giving up.\n"


@pytest.mark.parametrize(
    ("error", "log", "said"),
    [
        (
            "[JAVA_GATEwayEXITED] Java ended.",
            NO_HADOOP,
            "org.apache.spark.SparkException: HADOOP_CONF_DIR must be set",
        ),
        ("Cannot call a stopped SparkContext.", GIVING_UP, "All masters are unresponsive! Giving up."),
        ("[JAVA_GATEwayEXITED] Java ended.", "", "[JAVA_GATEwayEXITED] Java ended."),
        ("x\n: a.IOException: b\nCaused by: c.DiskError: full", GIVING_UP, "c.DiskError: full"),
    ],
)
def test_reason_why_there_is_no_session_may_be_in_the_log_of_java(error: str, log: str, said: str) -> None:
    assert session.cause(RuntimeError(error), log) == said


def test_address_that_nobody_answers_at_is_said_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        there = f"127.0.0.1:{server.getsockname()[1]}"
        for where in (f"spark://127.0.0.1:1,{there}", f"sc://{there}/;user_id=me", "yarn", "local[2]", "k8s://h:1"):
            session.answers(where)
    for where in (f"sc://{there}", f"spark://{there}"):
        with pytest.raises(BadInput, match=f"^{where}: no server answers: Connection refused$"):
            session.answers(where)


def test_archive_of_classes_is_used_when_it_is_whole(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace(__version__="4.0.0", __file__=__file__))
    monkeypatch.setattr(session, "version", lambda _java: "17")
    written = session.archive("java").split('"')
    assert written[0] == "-XX:ArchiveClassesAtExit="
    for head, option in ((bytes(4), "-XX:ArchiveClassesAtExit="), (b"\xa8\xab\x0b\xf0", "-XX:SharedArchiveFile=")):
        Path(written[1]).write_bytes(head + b"classes")
        assert session.archive("java").split('"')[:2] == [option, written[1]]
    monkeypatch.setattr(session, "version", lambda _java: "21")
    assert session.archive("java").split('"')[1] != written[1]
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    assert session.archive("java") == ""


def test_clusters_try_a_task_more_often_than_it_is_walked() -> None:
    cluster = session.SETTINGS["cluster"]
    on_a_host = int(cluster["spark.excludeOnFailure.task.maxTaskAttemptsPerNode"])
    assert 3 < on_a_host < int(cluster["spark.task.maxFailures"])  # Spark refuses more on a host than in all


def test_file_without_a_date_is_archived(tmp_path: Path) -> None:
    """As reproducible builds leave files: ZIP knows no time before 1980."""
    file = tmp_path / "kit.py"
    file.touch()
    os.utime(file, (0, 0))
    write({"kit.py": file}, tmp_path / "kit.zip")
    assert ZipFile(tmp_path / "kit.zip").namelist() == ["kit.py"]


def test_archive_of_the_same_content_is_not_made_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("broker_tck.spark_fuzz.executors.ship.SPARK_LIBRARIES", ())
    jar = tmp_path / "kit.jar"
    monkeypatch.setattr(BUNDLED["heap"], "files", lambda: [jar], raising=False)
    jar.write_text("jar", encoding="utf-8")
    made = ship(["heap"], tmp_path)
    made.write_text("kept", encoding="utf-8")
    assert ship(["heap"], tmp_path) == made
    assert made.read_text(encoding="utf-8") == "kept"
    jar.write_text("other jar", encoding="utf-8")
    assert ship(["heap"], tmp_path) != made
    assert settings("s3a://b/kit.zip")["spark.archives"] == "s3a://b/kit.zip#shipped"
    with pytest.raises(BadInput, match=r"^/dev/null/a\.zip: cannot be written: Not a directory$"):
        write({}, Path("/dev/null/a.zip"))
