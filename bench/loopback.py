"""A standalone cluster of Spark on this machine's loopback: for tests, benches, and to try things out."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import Any, Self
from urllib.error import URLError
from urllib.request import urlopen

from broker_tck.properties.errors import Failed
from broker_tck.spark_fuzz.executors.session import java, need_spark

HOST = "127.0.0.1"
PATIENCE = 60.0
"""How many seconds a master or a worker may take to come up."""
CLASS = "org.apache.spark.deploy"


class Cluster:
    """A master and workers of one core each, as processes of this one. Failed where they do not come up."""

    def __init__(self, folder: Path, workers: int = 2, memory: str = "1g") -> None:
        need_spark()
        java()
        import pyspark

        self.home = Path(pyspark.__file__).parent
        self.folder = folder
        self.memory = memory
        self.number = workers
        self.workers: list[subprocess.Popen[bytes]] = []
        port, self.page = free_port(), free_port()
        self.url = f"spark://{HOST}:{port}"
        folder.mkdir(parents=True, exist_ok=True)
        self.master = self.start(
            "master", f"{CLASS}.master.Master", "--host", HOST, "--port", str(port), "--webui-port", str(self.page)
        )

    def __enter__(self) -> Self:
        try:
            self.wait(lambda: self.state() is not None, "its master")
            for _ in range(self.number):
                self.add_worker()
            self.wait(lambda: self.alive() >= self.number, "its workers")
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.end()

    def add_worker(self) -> subprocess.Popen[bytes]:
        """Start one more worker; it registers in a while."""
        name = f"worker-{len(self.workers)}"
        arguments = ["-c", "1", "-m", self.memory, "-d", str(self.folder / name), "--host", HOST]
        worker = self.start(name, f"{CLASS}.worker.Worker", *arguments, "--webui-port", str(free_port()), self.url)
        self.workers.append(worker)
        return worker

    def start(self, name: str, *command: str) -> subprocess.Popen[bytes]:
        """Start a part of the cluster; what it prints goes to a file."""
        environment = {**os.environ, "SPARK_HOME": str(self.home), "SPARK_LOCAL_IP": HOST}
        with (self.folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                [str(self.home / "bin" / "spark-class"), *command],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,
            )

    def signal(self, number: int) -> None:
        """Send a signal to all of it, the executors as well."""
        for process in [self.master, *self.workers]:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)

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

    def wait(self, ready: Callable[[], bool], what: str) -> None:
        """Look until something is so. Failed where it takes too long."""
        for _ in range(round(PATIENCE / 0.1)):
            if ready():
                return
            Event().wait(0.1)
        raise Failed(f"the cluster did not bring up {what} in {PATIENCE:.0f} seconds; {self.folder} has its logs")

    def end(self) -> None:
        """End all of it."""
        for process in [*self.workers, self.master]:
            process.terminate()
        for process in [*self.workers, self.master]:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def free_port() -> int:
    """A port of the loopback that nobody uses now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
