"""A defect that a class was seen to have: a trace, and what tells from how it ends that the class has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Ended(NamedTuple):
    """How a trace has ended."""

    answer: Any
    """The result of the last operation."""
    count: int | None
    armed: list[int] | None
    given: list[tuple[int, int]]
    """What was handed out in all."""
    accepted: list[bool]
    """What each add has answered."""

    @property
    def failed(self) -> bool:
        """Whether the last operation has raised."""
        return isinstance(self.answer, dict)

    @property
    def some_left(self) -> bool:
        """Whether something is counted that was not handed out."""
        return self.failed or bool(self.count)


class Defect(NamedTuple):
    """Something that a class gets wrong."""

    title: str
    rule: str
    story: str
    text: str
    """The trace."""
    is_wrong: Callable[[Ended], bool]


class Defects(NamedTuple):
    """The defects of the classes of a contract."""

    contract: str
    title: str
    introduction: str
    specification: str
    """What its row is called."""
    classes: Mapping[str, str]
    """What each class is called, by its profile; the last one that has a defect is replayed."""
    subjects: Mapping[str, str]
    """The subject that does as a class does, by its profile."""
    groups: Mapping[str, tuple[Defect, ...]]
    """The defects by the harm that they do."""
    end: str = ""
    """What stands below all of them."""
