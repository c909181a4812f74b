"""The Hypothesis driver: the contract's generator as a state machine, one rule for each kind of operation.

Hypothesis takes its rules evenly, and taking one costs more than ten operations do. So a step makes an operation of
its rule's kind and goes on as a walk would for a few more, with all choices out of bytes that are drawn at once.
Hypothesis only generates here; what fails is reduced by the kit's own reducer, which is faster and no worse.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from hypothesis.statistics import collector, describe_statistics

from broker_tck.model.reference import Reference
from broker_tck.properties.engine.check import first_difference
from broker_tck.properties.engine.choices import ByteChoices, one_of
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.walk import Walk, to_draw_from

STEPS = 25
"""How many steps an example of the machine has."""
FOLLOWING = 9
"""How many operations may follow the first one of a step."""
ENTROPY = st.binary(min_size=64, max_size=64)


class Broken(AssertionError):
    """A machine's example failed."""


class Machine(RuleBasedStateMachine):
    """A subject beside its model. The rules, one a maker, are added by :func:`machine_for`."""

    subject: Subject
    model: type[Reference]
    operations = 0
    """How many operations all examples of this machine have made, their drains aside."""
    failed: Walk | None = None
    """The example that failed."""

    @initialize(entropy=ENTROPY)
    def start(self, entropy: bytes) -> None:
        """Draw a configuration, and put a fresh subject beside a fresh model."""
        contract = self.subject.contract
        self.choices = ByteChoices(entropy)
        self.config: Any = contract.configured(self.choices, self.subject.capabilities)
        self.reference: Any = self.model(self.config)
        self.rig = self.subject.rig(self.config, self.subject.capabilities)
        makers = contract.offered(self.reference, self.choices, self.subject.capabilities)
        self.makes = {maker.name: maker.make for maker in makers}
        self.following = to_draw_from(makers, self.choices)
        self.done: list[Operation] = []

    def step(self, kind: str, entropy: bytes) -> None:
        """Make an operation of one kind, then a few of any kind, and check each."""
        self.choices.refill(entropy)
        makes = [self.makes[kind]]
        makes += [one_of(self.choices, self.following) for _ in range(self.choices.below(FOLLOWING + 1))]
        for make in makes:
            type(self).operations += 1
            self.perform(make())

    def perform(self, operation: Operation) -> None:
        """Check an operation."""
        self.done.append(operation)
        if found := first_difference([operation], self.reference, self.rig):
            self.failed = type(self).failed = Walk(None, self.config, self.done, found[1])
            raise Broken("the subject left the specification")

    def teardown(self) -> None:
        """End as a walk does, unless the example has failed already."""
        if "failed" in vars(self) or not hasattr(self, "reference"):
            return
        for operation in self.subject.contract.ending(self.reference, self.choices, self.subject.capabilities):
            self.perform(operation)


def machine_for(subject: Subject, model: type[Reference]) -> type[Machine]:
    """The machine of a subject under a model."""
    contract = subject.contract
    sample = contract.offered(model(contract.config()), ByteChoices(), subject.capabilities)
    rules = {f"make_{maker.name}": _rule(maker.name) for maker in sample}
    return type(f"Machine of {subject.name}", (Machine,), {"subject": subject, "model": model, **rules})


def _rule(kind: str) -> Any:
    def make(self: Machine, entropy: bytes) -> None:
        self.step(kind, entropy)

    make.__name__ = f"make_{kind}"
    return rule(entropy=ENTROPY)(make)


def machine_settings(examples: int, steps: int = STEPS, derandomize: bool = True) -> settings:
    """How the machine is run: generating only, without a deadline, the same every time."""
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        phases=[Phase.generate],
        derandomize=derandomize,
        database=None,
        deadline=None,
        verbosity=Verbosity.quiet,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )


@contextmanager
def described() -> Iterator[list[str]]:
    """Collects what Hypothesis says of the runs in the block, as ``--hypothesis-show-statistics`` shows it."""
    told: list[str] = []
    with collector.with_value(lambda statistics: told.append(describe_statistics(statistics))):  # type: ignore[arg-type] # its type is that of its first value
        yield told


def prepare() -> None:
    """Have Hypothesis read the constants of the modules that are here, once for all processes that are forked later."""
    hypothesis.find(st.integers(), lambda _: True, settings=machine_settings(1))


def run_machine(
    subject: Subject, model: type[Reference], examples: int, seed: int | str | None = None, steps: int = STEPS
) -> tuple[Walk | None, int]:
    """Run the machine; answers with the example that failed, if one did, and the number of checked operations.

    ``seed`` makes runs differ; None is the fixed run of CI.
    """
    machine = machine_for(subject, model)
    test: Any = machine
    try:
        if seed is not None:
            test = hypothesis.seed(seed)(test)
        run_state_machine_as_test(test, settings=machine_settings(examples, steps, derandomize=seed is None))
    except Exception:  # a subject that fails but does not fail again makes Hypothesis raise an error of its own
        if machine.failed is None:
            raise
    return machine.failed, machine.operations
