"""The Hypothesis machine: a state machine for each subject, with one operation a step.

Operations are made by the makers of the walks, whose choices Hypothesis draws as integers. Each maker is a rule, whose
argument is the operation; those without arguments share a rule, or half of all steps would only ask. A step costs ten
times as much as that of a walk, so walks find more. What Hypothesis adds is what its users know: a failure is shrunk,
printed as a program, kept in the database of examples and replayed first in the next run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis import strategies as st
from hypothesis.control import current_build_context
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from hypothesis.statistics import collector, describe_statistics

from broker_tck.properties.engine.check import first_difference
from broker_tck.properties.engine.choices import SeededChoices, one_of, weighted
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
def operations(draw: st.DrawFn, names: frozenset[str]) -> Operation:
    """An operation that one of the makers of these names makes for the machine that is run."""
    machine: Machine = draw(st.runner())
    machine.choices.draw = draw
    makers = [maker for maker in machine.makers if maker.name in names]
    likely = weighted((maker, max(maker.weights)) for maker in makers) if len(makers) > 1 else makers
    return one_of(machine.choices, likely or makers).make()


class Machine(RuleBasedStateMachine):
    """A subject beside its reference model. :func:`machine_for` adds the rules of a contract's operations.

    Rules of one's own call :meth:`perform`, with ``self.reference``, the model as it is now, in view.
    """

    subject: ClassVar[Subject]
    profile: ClassVar[str]
    report: ClassVar[Report] = staticmethod(difference_text)
    """What an error says when it is printed."""
    performed: ClassVar[int] = 0
    """Number of operations of all examples."""
    failed: ClassVar[Walk | None] = None
    """The last example that failed."""

    def configured(self, choices: DrawnChoices) -> Any:
        """Draw a configuration, and what the makers of this example draw when they are made."""
        contract, capabilities = self.subject.contract, self.subject.capabilities
        self.choices = choices
        self.config: Any = contract.configured(choices, capabilities)
        self.reference: Any = contract.model(self.profile)(self.config)
        self.makers = contract.offered(self.reference, choices, capabilities)
        self.ending = SeededChoices(choices.below(ENDINGS))
        self.done: list[Operation] = []
        return self.config

    @initialize(config=configurations())
    def start(self, config: Any) -> None:
        """Make a fresh subject."""
        self.rig = self.subject.rig(config, self.subject.capabilities)

    def perform(self, operation: Operation) -> None:
        """Perform an operation on the subject and on the model. Broken where they differ."""
        __tracebackhide__ = True
        machine = type(self)
        machine.performed += 1
        self.done.append(operation)
        if found := first_difference([operation], self.reference, self.rig):
            machine.failed = Walk(None, self.config, self.done, found[1])
            raise Broken(machine, machine.failed)

    def goes_on(self) -> bool:
        """Whether an operation can follow."""
        return not self.reference.ended

    @precondition(lambda self: not self.goes_on())
    @rule()
    def rest(self) -> None:
        """Do nothing: the component has come to its end."""

    def teardown(self) -> None:
        """End as a walk does, unless the example has failed; the operations are printed as the steps are."""
        __tracebackhide__ = True
        if not hasattr(self, "rig") or (self.failed and self.failed.operations is self.done):
            return
        for operation in self.subject.contract.ending(self.reference, self.ending, self.subject.capabilities):
            hypothesis.note(f"# perform({operation!r})")
            self.perform(operation)


def machine_for(subject: Subject, profile: str, report: Report = difference_text) -> type[Machine]:
    """The machine of a subject under a profile.

    Hypothesis keeps failures by the name of a class that has no source, so that has subject and profile in it.
    """
    contract = subject.contract
    model, tags = contract.model(profile), by_tag(contract.operations)
    makers = contract.offered(model(contract.config()), SeededChoices(0), subject.capabilities)
    bare = frozenset(m.name for m in makers if m.name in tags and not tags[m.name].__struct_fields__)
    named = {maker.name: frozenset({maker.name}) for maker in makers if maker.name not in bare}
    rules = {name: rule_of(name, names) for name, names in (named | ({"call": bare} if bare else {})).items()}
    name = re.sub(r"\W+", "_", f"{subject.name}_{profile}")
    members = {"subject": subject, "profile": profile, "report": staticmethod(report), "__module__": __name__}
    return type(name, (Machine,), {**members, **rules})


def rule_of(name: str, makers: frozenset[str]) -> Any:
    """The rule that performs what makers of these names make."""

    def perform(self: Machine, operation: Operation) -> None:
        __tracebackhide__ = True
        self.perform(operation)

    perform.__name__ = name
    return precondition(Machine.goes_on)(rule(operation=operations(makers))(perform))


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
