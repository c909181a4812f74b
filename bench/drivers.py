"""``bench drivers``: checked operations a second of the walk beside the Hypothesis machine, measured in one run."""

from __future__ import annotations

import gc
import platform
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.metadata import version
from os import cpu_count
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import msgspec

from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.machine import fixed, machine_for, run_machine
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.subjects import Subject, resolve
from broker_tck.properties.errors import BadInput
from broker_tck.properties.search.run import Run, checked

WALKS = 320
EXAMPLES = 60
BULK = ("fill", "crowd", "march")
NOTES = {
    "walk": "generation, both sides, comparison of result and observables; rules counted in 1 walk of 16",
    "machine": "the Hypothesis machine over the same generator",
    "model": "the model alone, with what is seen after each operation",
    "subject": "the subject alone, likewise",
}


class Row(msgspec.Struct, frozen=True):
    """One thing measured, in operations a second."""

    what: str
    median: float
    low: float
    high: float
    note: str


class Measured(msgspec.Struct, frozen=True):
    """What was measured of a subject."""

    subject: str
    operations: int
    clock_steps: float
    """The share of clock steps among the operations of the walks."""
    ratio: float
    """Walk to machine."""
    subject_share: float
    """The share of a walk's time that the subject alone takes for the same operations."""
    to_first: float
    """Its walks to those of the subject that was named first."""
    rows: list[Row]


class Drivers(msgspec.Struct, frozen=True):
    """What ``bench drivers`` measured: all subjects in turns, in one run."""

    machine: str
    subjects: list[Measured]


def machine_words() -> str:
    """The machine and the versions, in words."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    packages = ", ".join(f"{name} {version(name)}" for name in ("hypothesis", "msgspec", "pyroaring"))
    return f"{model}, {cpu_count()} cores, CPython {platform.python_version()}, {packages}"


def without_bulk(contract: Contract) -> Contract:
    """The contract as it is, its bulk operations left out."""

    def makers(model: Any, choices: Any, capabilities: Any) -> Any:
        return [m for m in contract.makers(model, choices, capabilities) if m.name not in BULK]

    return replace(contract, makers=makers)


class Bench:
    """A subject, the operations that its walks make, and what has been measured of it so far."""

    def __init__(self, name: str) -> None:
        found = resolve(name)
        self.subject = replace(found, contract=without_bulk(found.contract))
        self.profile = self.subject.profiles[0]
        run = Run(self.subject, self.profile, 0)
        self.made = [(done.config, done.operations) for done in checked(run, range(WALKS))]
        self.rates: dict[str, list[float]] = {what: [] for what in NOTES}

    def measure(self) -> None:
        """Measure everything once more."""
        subject, rates = self.subject, self.rates
        rates["walk"].append(walk_rate(subject, self.profile))
        rates["machine"].append(machine_rate(subject, self.profile))
        rates["model"].append(alone(self.made, subject.contract.model(self.profile)))
        rates["subject"].append(alone(self.made, lambda config: subject.rig(config, subject.capabilities)))

    def walks(self) -> float:
        """Checked operations a second of its walks, the median."""
        return median(self.rates["walk"])

    def result(self, first: Bench) -> Measured:
        """What was measured, beside the subject that was named first."""
        total = sum(len(operations) for _, operations in self.made)
        steps = sum(o.tag == "adv" for _, operations in self.made for o in operations)
        return Measured(
            subject=f"{self.subject.name} ({self.profile})",
            operations=total,
            clock_steps=steps / total,
            ratio=self.walks() / median(self.rates["machine"]),
            subject_share=self.walks() / median(self.rates["subject"]),
            to_first=self.walks() / first.walks(),
            rows=[Row(what, median(r), min(r), max(r), NOTES[what]) for what, r in self.rates.items()],
        )


def drivers(subject_names: Sequence[str], rounds: int, tell: Callable[[int], None]) -> Drivers:
    """Measure walk and machine of each subject in turns, and the parts of a walk on the operations that it made."""
    benches = [Bench(name) for name in subject_names]
    gc.collect()
    gc.freeze()  # or the collector would go through the walks that are kept here again and again
    for number in range(rounds):
        for bench in benches:
            bench.measure()
        tell(number + 1)
    return Drivers(machine_words(), [bench.result(benches[0]) for bench in benches])


def walk_rate(subject: Subject, profile: str) -> float:
    """Checked operations a second of walks."""
    run = Run(subject, profile, 0)
    began = perf_counter()
    for done in checked(run, range(WALKS)):
        if done.difference:
            raise BadInput(f"{subject.name} does not conform; `broker-tck check` says why")
    return run.operations / (perf_counter() - began)


def machine_rate(subject: Subject, profile: str) -> float:
    """Checked operations a second of the machine."""
    began = perf_counter()
    operations = run_machine(machine_for(subject, profile), fixed(EXAMPLES)).performed
    return operations / (perf_counter() - began)


def alone(made: list[tuple[Any, list[Operation]]], make: Callable[[Any], Any]) -> float:
    """Operations a second of one side that does what walks have done."""
    began = perf_counter()
    total = errors = 0
    for config, operations in made:
        on = make(config)
        for operation in operations:
            try:
                operation.on(on)
            except Exception:
                errors += 1  # what some operations are to end in; suppress() would be timed as well
            on.seen()
        total += len(operations)
    return total / (perf_counter() - began)
