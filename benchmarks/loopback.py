"""Spark on this machine's loopback: a standalone cluster, and a Connect server; for tests and benchmarks."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import Any, Self
from urllib.error import URLError
from urllib.request import urlopen

from broker_tck.properties.errors import Failed
from broker_tck.spark_fuzz.executors.session import JVM, archive, java, need_spark

HOST = "127.0.0.1"
PATIENCE = 600.0
"""How many seconds a master, a worker or a server may take to come up."""
CLASS = "org.apache.spark.deploy"
CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"


class Parts(ABC):
    """Processes of Spark, started by a context and ended with it; what each prints is in a file of the folder."""

    def __init__(self, folder: Path) -> None:
        need_spark()
        classes = archive(java())
        import pyspark

        self.home = Path(pyspark.__file__).parent
        self.options = f"{JVM} {classes}" if "SharedArchiveFile" in classes else JVM  # only drivers write the archive
        self.folder = folder
        self.parts: list[subprocess.Popen[bytes]] = []
        folder.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Self:
        try:
            self.bring_up()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.end()

    @abstractmethod
    def bring_up(self) -> None:
        """Start what belongs to it, and wait until it is there. Failed if it does not come up."""

    def start(self, name: str, *command: str, variables: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Start a part by a command of Spark's folder ``bin``."""
        given = {"SPARK_HOME": str(self.home), "SPARK_LOCAL_IP": HOST, "JDK_JAVA_OPTIONS": self.options}
        environment = {**os.environ, **given, **(variables or {})}
        with (self.folder / f"{name}.log").open("wb") as log:
            part = subprocess.Popen(
                [str(self.home / "bin" / command[0]), *command[1:]],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,
            )
        self.parts.append(part)
        return part

    def signal(self, number: int) -> None:
        """Send a signal to all of it, the executors as well."""
        for part in self.parts:
            with suppress(ProcessLookupError):
                os.killpg(part.pid, number)

    def wait(self, ready: Callable[[], bool], what: str) -> None:
        """Look until something is so. Failed if it takes too long."""
        for _ in range(round(PATIENCE / 0.1)):
            if ready():
                return
            Event().wait(0.1)
        raise Failed(f"{what} did not come up in {PATIENCE:.0f} seconds; {self.folder} has its logs")

    def end(self) -> None:
        """End all of it, the last part first."""
        for part in reversed(self.parts):
            part.terminate()
        for part in reversed(self.parts):
            try:
                part.wait(10)
            except subprocess.TimeoutExpired:
                part.kill()
                part.wait()


class Cluster(Parts):
    """A master, and workers of one core each: one for each of the hosts, which are addresses 127.x.x.x."""

    def __init__(self, folder: Path, workers: int = 2, memory: str = "1g", hosts: Sequence[str] = ()) -> None:
        super().__init__(folder)
        self.memory = memory
        self.hosts = hosts or [HOST] * workers
        self.workers: list[subprocess.Popen[bytes]] = []
        port, self.page = free_port(), free_port()
        self.url = f"spark://{HOST}:{port}"

    def bring_up(self) -> None:
        """Start the master and the workers, and wait until all are registered."""
        port = self.url.rpartition(":")[2]
        command = ["--host", HOST, "--port", port, "--webui-port", str(self.page)]
        self.start("master", "spark-class", f"{CLASS}.master.Master", *command)
        self.wait(lambda: self.state() is not None, "the cluster's master")
        for host in self.hosts:
            self.add_worker(host)
        self.wait(lambda: self.alive() >= len(self.hosts), "the cluster's workers")

    def add_worker(self, host: str = HOST, **variables: str) -> subprocess.Popen[bytes]:
        """Start one more worker, with variables that its executors have as well; it registers in a while."""
        name = f"worker-{len(self.workers)}"
        command = ["-c", "1", "-m", self.memory, "-d", str(self.folder / name), "--host", host]
        variables = {"SPARK_LOCAL_IP": host, **variables}
        worker = self.start(
            name,
            "spark-class",
            f"{CLASS}.worker.Worker",
            *command,
            "--webui-port",
            str(free_port()),
            self.url,
            variables=variables,
        )
        self.workers.append(worker)
        return worker

    def state(self) -> dict[str, Any] | None:
        """What the master tells of the cluster; None: it is not up."""
        try:
            with urlopen(f"http://{HOST}:{self.page}/json/", timeout=5) as page:
                found: dict[str, Any] = json.load(page)
        except (URLError, OSError, ValueError):
            return None
        return found

    def alive(self) -> int:
        """How many workers are registered and alive."""
        return int((self.state() or {}).get("aliveworkers", 0))


class ConnectServer(Parts):
    """A Connect server, with a master, settings and variables of its own; sessions cannot change most of these."""

    def __init__(
        self, folder: Path, master: str = "local[2]", settings: Mapping[str, str] | None = None, **variables: str
    ) -> None:
        super().__init__(folder)
        self.variables = {"SPARK_CONNECT_MODE": "0", **variables}
        self.port = free_port()
        self.url = f"sc://{HOST}:{self.port}"
        local = {"spark.ui.enabled": "false", "spark.driver.host": HOST, "spark.driver.bindAddress": HOST}
        binding = {"spark.connect.grpc.binding.address": HOST, "spark.connect.grpc.binding.port": str(self.port)}
        self.settings = {"spark.master": master, **local, **binding, **(settings or {})}

    def bring_up(self) -> None:
        """Start the server, and wait until it accepts connections."""
        chosen = [word for name, value in self.settings.items() for word in ("--conf", f"{name}={value}")]
        server = self.start("connect", "spark-submit", "--class", CONNECT, *chosen, variables=self.variables)
        self.wait(lambda: server.poll() is not None or self.accepts(), "the Connect server")
        if server.poll() is not None:
            raise Failed(f"the Connect server ended with status {server.returncode}; {self.folder} has its log")

    def accepts(self) -> bool:
        """Whether the server accepts connections."""
        with suppress(OSError), socket.create_connection((HOST, self.port), 1):
            return True
        return False


def free_port() -> int:
    """A port of the loopback that nobody uses now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
