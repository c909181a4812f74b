"""What every reference model has: a profile, an answer that leaves a choice, and the faults that it declares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from broker_tck.model.rules import Rule


class Allowed(NamedTuple):
    """A model's answer if the specification leaves a choice.

    ``permits`` judges what the subject answered, as JSON has it, ``follow`` takes it over into the model, and
    ``example`` is what the model answers if it is itself the subject.
    """

    permits: Callable[[Any], bool]
    follow: Callable[[Any], None]
    example: Any
    says: str
    """What is allowed, in words."""
    later: bool = False
    """Whether it may be judged after later operations: what was answered matters to later answers of its kind alone."""


def either(one: Any, other: Any, taken: Callable[[], None], says: str) -> Allowed:
    """One answer or the other, each of which may leave a choice. If the subject has the other, ``taken`` follows it."""
    first, second = as_allowed(one), as_allowed(other)

    def follow(seen: Any) -> None:
        if not first.permits(seen):
            second.follow(seen)
            taken()
        else:
            first.follow(seen)

    return Allowed(lambda seen: first.permits(seen) or second.permits(seen), follow, first.example, says)


def as_allowed(answer: Any) -> Allowed:
    """An answer as one that allows nothing else, unless it leaves a choice."""
    if type(answer) is Allowed:
        return answer
    return Allowed(lambda seen: bool(seen == answer), lambda seen: None, answer, "")


class Undefined:
    """An observation that the specification leaves open: it equals everything."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "anything"


UNDEFINED = Undefined()


class Fault(Exception):
    """An error that a profile declares as an outcome; ``str`` is its name."""


class Reference(ABC):
    """The base of reference models: methods named as the operations, and :meth:`seen`."""

    PROFILE: ClassVar[str]
    """The name of the profile that this class embodies."""
    WITHOUT_CLAUSE: ClassVar[tuple[Rule, ...]] = ()
    """Rules that no clause embodies: invariants and informative ones."""
    BREAKS: ClassVar[tuple[str, ...]] = ()
    """Invariants that this profile is known to break, by number, and relations, by name."""

    NOT_APPLICABLE: ClassVar[tuple[str, ...]] = ()
    """Rules, clauses and relations that decide nothing under this profile: rules by number, for example those of
    buckets; clauses by path, if the profile replaces the methods that ask them; and relations that need not hold, by
    name."""

    ACCEPTS: ClassVar[tuple[Any, ...]] = ()
    """The known mistakes that this profile accepts, as a subject asks; see :mod:`broker_tck.properties.mistakes`."""

    ended: bool = False
    """Whether the component has come to its end: no operation can follow."""

    @abstractmethod
    def __init__(self, config: Any) -> None:
        """Start as configured."""

    @abstractmethod
    def seen(self) -> tuple[Any, ...]:
        """What can be observed after every operation; an :class:`Allowed` if the specification leaves a choice."""

    def glimpsed(self) -> tuple[Any, ...]:
        """What can be observed cheaply: as :meth:`seen`, with None in place of expensive observations."""
        return self.seen()
