"""The one comparison of the kit: an operation on the model and on the adapter, and whether the outcome is allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from broker_tck.implementations.interface import NOT_ANSWERED, Hang
from broker_tck.implementations.jvm.unavailable import Unavailable
from broker_tck.model.reference import UNDEFINED, Allowed, Fault
from broker_tck.properties.engine.answers import (
    Odd,
    agree,
    agree_by_key,
    class_name,
    described,
    holds,
    message_of,
    plain,
)
from broker_tck.properties.engine.blackbox import BOX
from broker_tck.properties.engine.choices import Choices
from broker_tck.properties.engine.contract import Contract, Relation, Step
from broker_tck.properties.engine.operation import Operation, Told

RESULT = "result"
HANG = "Hang"
NO_ANSWERS = (HANG, "MemoryError", "Exited", "Killed")
"""Why a subject may give no answer: it does not come back, wants too much memory, or ends its own process."""
TOO_MUCH = "it takes too much memory"
"""The message if an allocation fails. It is the one of the guard, because the error has none."""
NOT_SHOWN = UNDEFINED
"""The value that an adapter shows for an observable that its subject cannot show."""
Recorder = Callable[[Any, Sequence[Operation]], list[Step]]
"""Says what a subject does alone, given a configuration and operations."""
INTERFACE = "broker_tck.implementations.interface"


class Difference(NamedTuple):
    """A difference between subject and model. ``observed`` is the result, or the index of an observable."""

    observed: str | int
    expected: Any
    seen: Any


def observable(contract: Contract, difference: Difference) -> str:
    """The name of what differed."""
    return RESULT if difference.observed == RESULT else [*contract.observables][int(difference.observed)]


class Look(Operation, frozen=True, tag="look"):
    """An operation that does nothing, so only the observables are compared."""

    traced = False

    def on(self, to: Any) -> None:
        """Do nothing."""


def failed(error: BaseException) -> dict[str, str]:
    """An error as an outcome. Hangs, and classes that do not fit this platform, are raised further.

    So is the lack of memory in a process that may take only so much: its guard may notice it first, and ends it.
    """
    kind = type(error)
    if issubclass(kind, Hang | KeyboardInterrupt | Unavailable) or (kind is MemoryError and BOX.limited):
        raise error
    if issubclass(kind, Fault):
        return {"error": message_of(error)}
    message = message_of(error) or (TOO_MUCH if kind is MemoryError else "")
    return {"error": class_name(kind, module=False), "message": message}


def named(error: BaseException) -> dict[str, str]:
    """An error as it is recorded and compared: without its message, which may contain an address or be missing.

    One of a class of the subject's own that is an error of the interface is named as that one.
    """
    kinds = (kind.__name__ for kind in type(error).__mro__ if str(kind.__module__).startswith(INTERFACE))
    return {"error": next(kinds, failed(error)["error"])}


def check(operation: Operation, model: Any, adapter: Any, glimpse: bool = False) -> Difference | None:
    """Perform an operation on both sides and compare. Anything that a subject raises is an outcome.

    With ``glimpse``, expensive observables are not read.
    """
    try:
        want = operation.on(model)
    except Fault as fault:
        want = failed(fault)
    try:
        got = operation.on(adapter)
        kind = type(got)
        same = (
            got is want
            or (kind is type(want) and (not got or kind is int or kind is str) and got == want)
            or agree(want, got)
        )
        got = got if same else returned(got)
    except BaseException as error:
        got, same = failed(error), named(error) == want
    if not same and (bad := disallowed(want, got)):
        return bad
    want = model.glimpsed() if glimpse else model.seen()
    try:
        got = adapter.glimpsed() if glimpse else adapter.seen()
        same = want == got
    except BaseException as error:
        got, same = (failed(error),), False
    return None if same else apart(want, got)


def asked(operations: Iterable[Operation], adapter: Any) -> Iterable[Operation]:
    """The operations, each written down, and announced to a subject that is told them, before it is done."""
    return BOX.noted(adapter.asked(operations) if isinstance(adapter, Told) else operations, adapter)


def returned(got: Any) -> Any:
    """A subject's answer, see :func:`concrete`. A dictionary is not an answer, nor an error that was raised."""
    return described(got) if type(got) is dict else concrete(got)


def picked(got: Any) -> Any:
    """A subject's answer, see :func:`concrete`; the error, if a model fails with its own pick."""
    try:
        return concrete(got)
    except Exception as error:
        return failed(error)


def concrete(got: Any) -> Any:
    """A subject's answer; if the subject is a model, the answer that it picks."""
    if type(got) is Odd:
        return returned(got.said)
    if type(got) is not Allowed:
        return got
    got.follow(got.example)
    return got.example


def told_plainly(got: Any) -> Any:
    """A copy of a model's or a subject's answer, as JSON has it; what is left open stays so."""
    return got if got is UNDEFINED else plain(concrete(got))


def disallowed(want: Any, got: Any) -> Difference | None:
    """The difference between two results, unless the model leaves the choice: what it would pick itself is allowed."""
    given = plain(got)
    if type(want) is Allowed:
        if permitted(want, given):
            want.follow(given)
            return None
        return None if fails_likewise(want, given) else Difference(RESULT, want.says, given)
    if isinstance(want, dict) and isinstance(given, dict) and want["error"] == given.get("error"):
        return None
    return None if agree(want, got) else Difference(RESULT, plain(want), given)


def permitted(want: Allowed, given: Any) -> bool:
    """Whether a model allows an answer, as JSON has it, or picks it itself; not one that its judge cannot read.

    An answer is of one kind with what the model picks: a bool is no number, and no answer is no ``False``. No answer
    holds a float.
    """
    own = plain(want.example)
    try:
        return type(own) is type(given) and not holds(given, float) and (want.permits(given) or given == own)
    except (LookupError, TypeError, ValueError):
        return False


def fails_likewise(want: Allowed, given: Any) -> bool:
    """Whether a model fails as the subject did, if it goes on with its own pick; only one with a mistake does."""
    if not isinstance(given, dict) or "error" not in given:
        return False
    own = picked(want)
    return isinstance(own, dict) and own.get("error") == given["error"]


def apart(want: Sequence[Any], got: Sequence[Any]) -> Difference | None:
    """The first observable that differs; if reading them failed, the first of all."""
    for where, (wanted, told) in enumerate(zip(want, got, strict=False)):
        given = picked(told)
        if type(wanted) is Allowed:
            if bad := disallowed(wanted, given):
                return bad._replace(observed=where)
        elif not (agree_by_key if type(wanted) is dict else agree)(wanted, given):
            return Difference(where, plain(wanted), plain(given))
    return None if len(want) == len(got) else Difference(0, plain(want[0]), plain(got[0]))


def first_difference(
    operations: Iterable[Operation], model: Any, adapter: Any, glimpse: bool = False
) -> tuple[int, Difference] | None:
    """Replay operations on both sides up to the first difference; None if there is none.

    With ``glimpse``, expensive observables are read only at the end.
    """
    done = -1
    glimpse = glimpse and not isinstance(adapter, Told)
    try:
        for done, operation in enumerate(asked(operations, adapter)):
            if bad := answered(operation, model, adapter, glimpse):
                return done, bad
        bad = answered(Look(), model, adapter) if glimpse and done >= 0 else None
        return (done, bad) if bad else None
    finally:
        BOX.rest()


def answered(operation: Operation, model: Any, adapter: Any, glimpse: bool = False) -> Difference | None:
    """As :func:`check`; a hang is a difference, too."""
    try:
        return check(operation, model, adapter, glimpse)
    except Hang:
        return no_answer(HANG, NOT_ANSWERED)


def replay_differs(
    operations: Sequence[Operation], model: Callable[[], Any], adapter: Callable[[], Any], expensive: bool
) -> tuple[int, Difference] | None:
    """Replay a trace up to the first difference; None if there is none.

    All observables are read after each operation. Walks do not read ``expensive`` ones each time, and a subject may
    fail only if it is not asked. So a trace that passes is replayed once more without these reads.
    """
    found = first_difference(operations, model(), adapter())
    return first_difference(operations, model(), adapter(), glimpse=True) if expensive and not found else found


def no_answer(error: str, message: str) -> Difference:
    """A hang, or the end of the subject's process, as a difference."""
    return Difference(RESULT, "an answer", {"error": error, "message": message})


def unanswered(difference: Difference) -> str:
    """Why there was no answer, one of :data:`NO_ANSWERS`; empty if there was one."""
    error = difference.seen.get("error") if isinstance(difference.seen, dict) else ""
    return error if error in NO_ANSWERS else ""


class Recorded(Told):
    """Stands in for an adapter on which a trace was recorded: it answers as that one did, up to a difference."""

    def __init__(self, steps: Iterable[Step]) -> None:
        self._steps = iter(steps)
        self._step: Step | None = None

    def __getattr__(self, name: str) -> Any:
        return self.told

    def told(self, *_arguments: Any) -> Any:
        """The result of the next operation."""
        self._step = self._step or next(self._steps)
        result = self._step.result
        if isinstance(result, dict):  # which stands for an error alone
            raise Fault(result["error"])
        return result

    def seen(self) -> tuple[Any, ...]:
        """The observables after the operation."""
        step, self._step = self._step or next(self._steps), None
        return step.seen


def record(operations: Iterable[Operation], on: Any) -> list[Step]:
    """Perform operations on a fresh adapter or model, and write down every outcome; of an error, its name."""
    steps = []
    for operation in asked(operations, on):
        try:
            result = plain(returned(operation.on(on)))
        except BaseException as error:
            result = named(error)
        try:
            seen = tuple(map(told_plainly, on.seen()))
        except BaseException as error:
            seen = (named(error),)
        steps.append(Step(operation, result, seen))
    BOX.rest()
    return steps


def recorder(adapted: Callable[[Any], Any]) -> Recorder:
    """Records what a subject does alone on a trace: a fresh one for each, and each trace once.

    ``adapted`` makes a fresh subject, on an adapter, for a configuration.
    """

    @cache
    def recorded(config: Any, operations: tuple[Operation, ...]) -> list[Step]:
        return record(operations, adapted(config))

    return lambda config, operations: recorded(config, tuple(operations))


def kept(
    relation: Relation, config: Any, operations: Sequence[Operation], choices: Choices, recorded: Recorder
) -> bool | None:
    """Whether the outcomes of a trace and of its variation match; None if there is nothing to vary."""
    part = relation.part(operations)
    varied = relation.vary(config, part, choices)
    if varied is None:
        return None
    return relation.equal(config, recorded(config, part), varied[0], recorded(*varied))
