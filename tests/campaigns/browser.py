"""Headless Chromium, spoken to over two pipes: what a page looks like, and what is wrong with it."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fcntl import F_DUPFD, fcntl
from itertools import count
from pathlib import Path
from select import select
from typing import Any

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--no-first-run",
    "--remote-debugging-pipe",
]
SECONDS = 600
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""


@dataclass
class Browser:
    """A running Chromium with one tab."""

    write: int
    read: int
    session: str = ""
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    buffer: bytes = b""
    events: list[dict[str, Any]] = field(default_factory=list)

    def message(self) -> dict[str, Any]:
        while b"\0" not in self.buffer:
            if not select([self.read], [], [], SECONDS)[0]:
                raise TimeoutError("chromium does not answer")
            chunk = os.read(self.read, 1 << 20)
            if not chunk:
                raise EOFError("chromium has ended")
            self.buffer += chunk
        text, _, self.buffer = self.buffer.partition(b"\0")
        return dict(json.loads(text))

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters} | (
            {"sessionId": self.session} if self.session else {}
        )
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while (answer := self.message()).get("id") != number:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return dict(answer["result"])

    def wait(self, event: str) -> None:
        while not any(e.get("method") == event for e in self.events):
            self.events.append(self.message())

    def open(self, page: Path, width: int, height: int, scheme: str, scripts: bool = True) -> None:
        """Load a page as a screen of this size, in light or dark, shows it."""
        mobile = width < 600
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if mobile else 1,
            mobile=mobile,
        )
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.events.clear()
        self.call("Page.navigate", url=page.as_uri())
        self.wait("Page.loadEventFired")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression of JavaScript in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def picture(self, path: Path, whole: bool = False) -> None:
        """Save what is seen, or the whole page, as a PNG."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """Chromium with a profile of its own, until the block ends."""
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    theirs = [fcntl(to_read, F_DUPFD, 10), fcntl(from_write, F_DUPFD, 10)]
    os.close(to_read)
    os.close(from_write)
    start = [
        "bash",
        "-c",
        f'exec "$@" 3<&{theirs[0]} 4>&{theirs[1]}',
        "bash",
        CHROMIUM,
        *FLAGS,
        f"--user-data-dir={profile}",
    ]
    process = subprocess.Popen(start, pass_fds=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for descriptor in theirs:
        os.close(descriptor)
    try:
        yield attached(Browser(to_write, from_read))
    finally:
        os.close(to_write)
        process.terminate()
        process.wait(SECONDS)
        os.close(from_read)


def attached(made: Browser) -> Browser:
    """The browser, speaking to a tab of its own."""
    target = made.call("Target.createTarget", url="about:blank")["targetId"]
    made.session = made.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Network"):
        made.call(f"{domain}.enable")
    return made
