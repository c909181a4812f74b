"""What a tracker in another language costs beside those in Python and the released class: its check, and what it holds.

Delayed delivery holds a message a millisecond, negative acks have one a millisecond as well, and all are due only when
all are held. A ledger has 50,000 entries. All times are of the processor. The time of a check is that of the kit and
the program together. The time to add or take messages is that of the tracker's process.

In C++ and Rust the tracker is that of `examples/fast-trackers`, in other languages the one that `init` writes.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Any

import msgspec
from measuring import FIRST_LEDGER, START, Claim, Result, fresh, require, resident_bytes
from tracked_memory import LEDGER_ENTRIES

from broker_tck.implementations.kits import CONTRACTS, KITS
from broker_tck.implementations.released import released
from broker_tck.properties.contracts.delayed_delivery.operations import Advance, Fill, Get
from broker_tck.properties.contracts.negative_acks.operations import Advance as Later
from broker_tck.properties.contracts.negative_acks.operations import Fill as Nacks
from broker_tck.properties.engine.operation import Operation, Told
from broker_tck.properties.engine.program import OPERATIONS, TRACES, Spoken
from broker_tck.properties.engine.subjects import Subject, resolve
from broker_tck.properties.errors import Failed
from broker_tck.properties.search.run import Run, checked

TURNS = 3
WALKS, WARMING = 150, 50
"""Walks of a turn, and those before: what Java does most often is compiled by then."""
MESSAGES = 1_000_000
BATCH = 1_000
"""Messages that are added in one operation, and taken in one."""
BUCKET_MS = 250
"""Negative acks are added in this time, and taken in steps of it."""
HOUR_US = 3_600_000_000
INSIDE = "in process"
OPERATIONS_A_SECOND = "operations a second, {}"
BYTES, ADDED, TAKEN = "bytes a message", "seconds to add", "seconds to take"
HERE = {
    "delayed-delivery": {"Python, `time-bucket`": "time-bucket", "Java of 4.2.4": "pulsar-4.2.4/in-memory"},
    "negative-acks": {"Python, `sorted-buckets`": "sorted-buckets", "Java of 4.2.4": "pulsar-4.2.4/negative-acks"},
}
"""The subjects of each contract that run in the kit's own process; others are compared with the first."""
VERSIONS = ("go version", "g++ --version", "rustc --version", "node --version", "java -version")
EXAMPLE = Path(__file__).parents[1] / "examples" / "fast-trackers"
FAST = ("cpp", "rust")
"""The languages of its trackers."""


# ---- Checked operations a second


def rate(name: str, level: str, turns: int, walks: int) -> list[float]:
    """Operations a second of the processor that are checked, in several turns; ``level`` is how a program is asked."""
    subject = asked_by(resolve(name), level)
    run = Run(subject, subject.profiles[0], 1)
    for _ in checked(run, range(WARMING)):
        pass
    return [rate_of(subject, turn, walks) for turn in range(turns)]


def rate_of(subject: Subject, seed: int, walks: int) -> float:
    """The same of one turn."""
    run = Run(subject, subject.profiles[0], seed)
    began = process_time() + seconds_of(subject)
    for done in checked(run, range(walks)):
        require(not done.difference, subject.name)
    return run.operations / (process_time() + seconds_of(subject) - began)


def asked_by(subject: Subject, level: str) -> Subject:
    """A subject, which is asked by a level if it is a program."""
    if isinstance(subject.factory, Spoken):
        subject.factory.__dict__["hello"] = msgspec.structs.replace(subject.factory.hello, levels=(level,))
    return subject


# ---- A million messages held


def held(name: str, messages: int) -> tuple[float, float, float]:
    """Bytes of a message, and the seconds in which all are added, and taken again."""
    subject = resolve(name)
    adding, taking, config = WORKLOADS[subject.contract.name](messages)
    asked = Asked(subject, config)
    asked.all([])
    before = asked.bytes()
    added = asked.all(adding)
    growth = asked.bytes() - before
    taken = asked.all(taking)
    require(asked.taken == messages and asked.held == 0, name)
    return growth / messages, added, taken


class Asked:
    """A subject on a new trace."""

    def __init__(self, subject: Subject, config: Any) -> None:
        self.subject = asked_by(subject, OPERATIONS)
        self.adapter = subject.fresh(msgspec.convert(config, subject.contract.config))
        self.taken = 0
        self.held = 0

    def all(self, operations: Sequence[Operation]) -> float:
        """Perform operations; answers with the seconds of the tracker's process."""
        program = isinstance(self.adapter, Told)
        began = seconds_of(self.subject) if program else process_time()
        for operation in self.adapter.asked(operations) if program else operations:
            result = operation.on(self.adapter)
            self.held, _ = self.adapter.seen()
            self.taken += TOOK.get(type(operation), lambda _: 0)(result)
        return (seconds_of(self.subject) if program else process_time()) - began

    def bytes(self) -> int:
        """The memory of the tracker's process; of Java what is reachable."""
        if released(self.subject.name):
            return java_bytes()
        if isinstance(self.subject.factory, Spoken):
            status = Path(f"/proc/{pid_of(self.subject.factory)}/status").read_text(encoding="ascii")
            return 1_024 * int(re.findall(r"VmRSS:\s+(\d+)", status)[0])
        return resident_bytes()


def java_bytes() -> int:
    """The bytes of Java's heap after garbage was collected."""
    import jpype

    runtime = jpype.java.lang.Runtime.getRuntime()
    for _ in range(3):
        runtime.gc()
    return int(runtime.totalMemory() - runtime.freeMemory())


def delayed(messages: int) -> tuple[list[Operation], list[Operation], Any]:
    """A message a millisecond, from a quarter of an hour after the clock on."""
    first = START + HOUR_US // 4_000
    adding = [Fill(*place(i), 1, min(BATCH, messages - i), first + i, 1) for i in range(0, messages, BATCH)]
    taking: list[Operation] = [Advance(first + messages - START), *(Get(BATCH) for _ in adding)]
    return [*adding], taking, {"clock": START}


def nacked(messages: int) -> tuple[list[Operation], list[Operation], Any]:
    """A nack a millisecond, each delayed by an hour, so long that all are added before the first is due."""
    steps = range(0, messages, BUCKET_MS)
    adding: list[Operation] = []
    for i in steps:
        adding += Nacks(*place(i), 1, min(BUCKET_MS, messages - i), 0), Later(BUCKET_MS)
    taking = [Later(HOUR_US // 1_000 - messages), *(Later(BUCKET_MS) for _ in steps), Later(1_000)]
    return adding, taking, {"clock": START, "delay_us": HOUR_US}


def place(number: int) -> tuple[int, int]:
    """The ledger and the entry of a message."""
    ledger, entry = divmod(number, LEDGER_ENTRIES)
    return FIRST_LEDGER + ledger, entry


Workload = Callable[[int], tuple[list[Operation], list[Operation], Any]]
WORKLOADS: dict[str, Workload] = {"delayed-delivery": delayed, "negative-acks": nacked}
TOOK: dict[type[Operation], Callable[[Any], int]] = {Get: len, Later: lambda made: sum(len(each[1]) for each in made)}
"""How many messages came with a result."""


# ---- Programs


def pid_of(spoken: Spoken) -> int:
    """The process of a program."""
    assert spoken.program
    return int(spoken.program.process.pid)


def seconds_of(subject: Subject) -> float:
    """Seconds of processor of a subject's program; 0 if the subject is no program."""
    if not isinstance(subject.factory, Spoken):
        return 0.0
    threads = Path(f"/proc/{pid_of(subject.factory)}/task").glob("*/schedstat")
    return sum(int(thread.read_text(encoding="ascii").split()[0]) for thread in threads) / 1e9


def built(language: str, contract: str, folder: Path) -> str:
    """The name of a tracker in a language, which is built in a folder. Failed if it cannot be."""
    kit = KITS[language]
    for name, text in kit.files(contract).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for part in ("both", contract) if language in FAST else ():
        shutil.copytree(EXAMPLE / language / part, folder, dirs_exist_ok=True)
    *build, check = kit.then.split(" && ")
    for command in build:
        done = subprocess.run(shlex.split(command), cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failed(f"{command}: {done.stderr.strip()}")
    command = shlex.split(check)[-1].removeprefix("exec:")
    return "exec:" + command.replace("./", f"{folder}/").replace("main.js", f"{folder}/main.js")


def versions() -> Iterator[str]:
    """The toolchains, in words."""
    for command in VERSIONS:
        words = command.split()
        if shutil.which(words[0]):
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            found = re.search(r"\d+\.\d+[\d.]*", done.stdout or done.stderr)
            yield f"{words[0]} {found[0] if found else 'of an unknown version'}"


# ---- All of it


def native(
    turns: int = TURNS, walks: int = WALKS, messages: int = MESSAGES, languages: Sequence[str] = tuple(KITS)
) -> Result:
    """What trackers in other languages cost. Five minutes, with all toolchains and the jars of Pulsar 4.2.4."""
    table: dict[str, dict[str, Sequence[float]]] = {}
    claims: list[Claim] = []
    with tempfile.TemporaryDirectory() as folder:
        for contract in CONTRACTS:
            for title, name in HERE[contract].items():
                cells = {OPERATIONS_A_SECOND.format(INSIDE): fresh(rate, name, "", turns, walks)}
                table[f"`{contract}`, {title}"] = cells | holding(name, turns, messages)
            inside = table[f"`{contract}`, {next(iter(HERE[contract]))}"][OPERATIONS_A_SECOND.format(INSIDE)]
            for language in languages:
                name = built(language, contract, Path(folder, contract, language))
                cells = {
                    OPERATIONS_A_SECOND.format(f"`{level}`"): fresh(rate, name, level, turns, walks)
                    for level in (OPERATIONS, TRACES)
                }
                table[f"`{contract}`, {KITS[language].title}"] = cells | holding(name, turns, messages)
                together = max(cells[OPERATIONS_A_SECOND.format(f"`{TRACES}`")])  # spreads must overlap, at least
                if language in FAST:
                    says = f"{contract}, {language}: {together:,.0f} operations a second, at least {min(inside):,.0f}"
                    claims.append(Claim(says, together >= min(inside)))
    return Result(table, claims, ", ".join(versions()))


def holding(name: str, turns: int, messages: int) -> dict[str, Sequence[float]]:
    """The columns about what is held."""
    found = [fresh(held, name, messages) for _ in range(turns)]
    return dict(zip((BYTES, ADDED, TAKEN), map(list, zip(*found, strict=True)), strict=True))
