"""The Hypothesis machine: a state machine for each subject, with one operation a step.

Operations are made by the makers of the walks, whose choices Hypothesis draws as integers. There is one rule, whose
argument is the operation: what is made for one kind may be of another, as that of a plot is, and a program must say
what was done. A step costs ten times as much as that of a walk, so walks find more. What Hypothesis adds is what its
users know: a failure is shrunk, printed as a program, kept in the database of examples and replayed first next time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis import strategies as st
from hypothesis.control import current_build_context
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from hypothesis.statistics import collector, describe_statistics

from broker_tck.properties.engine.check import first_difference
from broker_tck.properties.engine.choices import SeededChoices, one_of, weighted
from broker_tck.properties.engine.contract import Maker
from broker_tck.properties.engine.operation import Operation, by_tag
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.walk import Walk

ENDINGS = 16
"""Number of different seeds of the operations that end an example."""
Report = Callable[[Subject, str, Walk], str]
"""Makes the text of a failure, by subject and profile."""


class DrawnChoices:
    """Choices that Hypothesis draws, each an integer, for the argument that ``draw`` belongs to."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def below(self, n: int) -> int:
        """Draw a number from 0 to n - 1."""
        return self.draw(st.integers(0, n - 1)) if n > 1 else 0


class Broken(AssertionError):
    """A subject left the specification. Its text is made when it is printed, and not while Hypothesis shrinks."""

    def __init__(self, machine: type[Machine], failed: Walk) -> None:
        super().__init__()
        self.machine, self.failed = machine, failed
        self.report = machine.report if current_build_context().is_final else difference_text

    @cached_property
    def text(self) -> str:
        """What went wrong, as the kit tells it."""
        return self.report(self.machine.subject, self.machine.profile, self.failed)

    def __str__(self) -> str:
        return self.text


def difference_text(_subject: Subject, _profile: str, failed: Walk) -> str:
    """The difference alone."""
    return f"{failed.operations[-1]!r}: {failed.difference}"


@st.composite
def configurations(draw: st.DrawFn) -> Any:
    """The configuration of the machine that is run; the machine's model and makers are made with it."""
    machine: Machine = draw(st.runner())
    return machine.configured(DrawnChoices(draw))


@st.composite
def operations(draw: st.DrawFn) -> Operation:
    """An operation of any kind, for the machine that is run."""
    machine: Machine = draw(st.runner())
    machine.choices.draw = draw
    return one_of(machine.choices, one_of(machine.choices, machine.kinds)).make()


def kinds(makers: Sequence[Maker], operations: Any) -> list[list[Maker]]:
    """Makers by kind. Those of operations without arguments are one kind, or half of all steps would only ask.

    That kind comes first: Hypothesis turns what it need not do into the first, and deletes a step of few choices. It
    draws the first one often as well, so the others are there twice.
    """
    tags = by_tag(operations)
    bare = [maker for maker in makers if maker.name in tags and not tags[maker.name].__struct_fields__]
    likely = weighted((maker, max(maker.weights)) for maker in bare)
    others = [[maker] for maker in makers if maker not in bare]
    return [*filter(None, [likely]), *others, *others]


class Machine(RuleBasedStateMachine):
    """A subject beside its reference model, both made at the start of an example.

    A subclass may have rules of its own. They call :meth:`perform`, with ``self.reference``, the model, in view.
    """

    subject: ClassVar[Subject]
    profile: ClassVar[str]
    report: ClassVar[Report] = staticmethod(difference_text)
    """What an error says when it is printed."""
    performed: ClassVar[int] = 0
    """Number of operations of all examples."""
    failed: ClassVar[Walk | None] = None
    """The last example that failed."""

    choices: DrawnChoices
    reference: Any = None
    """The model."""
    adapter: Any = None
    """The subject, behind the names of the operations."""

    def configured(self, choices: DrawnChoices) -> Any:
        """Draw a configuration, and what the makers of this example draw when they are made."""
        contract, capabilities = self.subject.contract, self.subject.capabilities
        self.choices = choices
        self.config: Any = contract.configured(choices, capabilities)
        self.reference = contract.model(self.profile)(self.config)
        self.kinds = kinds(contract.offered(self.reference, choices, capabilities), contract.operations)
        self.ending = SeededChoices(choices.below(ENDINGS))
        self.done: list[Operation] = []
        return self.config

    @initialize(config=configurations())
    def start(self, config: Any) -> None:
        """Make a fresh subject."""
        self.adapter = self.subject.adapter(config, self.subject.capabilities)

    @rule(operation=operations())
    def perform(self, operation: Operation) -> None:
        """Perform an operation on the subject and on the model. Raises Broken if they differ."""
        __tracebackhide__ = True
        machine = type(self)
        machine.performed += 1
        self.done.append(operation)
        if found := first_difference([operation], self.reference, self.adapter):
            machine.failed = Walk(None, self.config, self.done, found[1])
            raise Broken(machine, machine.failed)

    def teardown(self) -> None:
        """End as a walk does, unless the example has failed; then let go of all, as Hypothesis keeps errors."""
        __tracebackhide__ = True
        try:
            self.end()
        finally:
            self.reference = self.adapter = None
            self.kinds = []

    def end(self) -> None:
        """Perform the operations that end a walk. They are printed as the steps are."""
        __tracebackhide__ = True
        if self.adapter is None or (self.failed and self.failed.operations is self.done):
            return
        for operation in self.subject.contract.ending(self.reference, self.ending, self.subject.capabilities):
            hypothesis.note(f"# perform({operation!r})")
            self.perform(operation)


def machine_for(subject: Subject, profile: str, report: Report = difference_text) -> type[Machine]:
    """The machine of a subject under a profile.

    Hypothesis keeps failures by the name of a class that has no source, so that has subject and profile in it.
    """
    name = re.sub(r"\W+", "_", f"{subject.name}_{profile}")
    members = {"subject": subject, "profile": profile, "report": staticmethod(report), "__module__": __name__}
    return type(name, (Machine,), members)


class Outcome(NamedTuple):
    """What a run of a machine came to."""

    failed: Walk | None
    """The example that failed, as short as Hypothesis made it."""
    performed: int
    """Number of operations of all examples."""
    program: str = ""
    """The example that failed as Hypothesis prints it, with the line that reproduces it if the settings ask for it."""


def fixed(examples: int) -> settings:
    """The settings of ``check``: the same examples each time, not shrunk, as the kit's reducer is faster."""
    return settings(
        max_examples=examples,
        stateful_step_count=50,
        phases=[Phase.generate],
        derandomize=True,
        database=None,
        deadline=None,
        verbosity=Verbosity.quiet,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )


def of_the_user(examples: int) -> settings:
    """The settings of the user's profile of Hypothesis, with this number of examples unless it says another.

    Likewise, nothing is explained: that takes longer than all else, and tells lines of the kit.
    """
    given, usual = settings(), settings.get_profile("default")
    said = given.phases != usual.phases
    return settings(
        given,
        max_examples=examples if given.max_examples == usual.max_examples else given.max_examples,
        phases=given.phases if said else [phase for phase in given.phases if phase is not Phase.explain],
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def run_machine(machine: type[Machine], given: settings) -> Outcome:
    """Run a machine with some settings."""
    machine.failed, machine.performed = None, 0
    program: list[str] = []
    try:
        run_state_machine_as_test(machine, settings=given)
    except Broken as error:
        program = getattr(error, "__notes__", program)
    except Exception:  # a subject that fails but does not fail again makes Hypothesis raise an error of its own
        if machine.failed is None:
            raise
    return Outcome(machine.failed, machine.performed, "\n".join(program))


@contextmanager
def described() -> Iterator[list[str]]:
    """Collects what Hypothesis says of the runs in the block, as ``--hypothesis-show-statistics`` shows it."""
    told: list[str] = []
    with collector.with_value(lambda statistics: told.append(describe_statistics(statistics))):  # type: ignore[arg-type] # its type is that of its first value
        yield told


def prepare() -> None:
    """Have Hypothesis read the constants of the modules that are here, once for all processes that are forked later."""
    hypothesis.find(st.integers(), lambda _: True, settings=fixed(1))
