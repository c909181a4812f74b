"""Whether a subject can be asked at all: it can be made, and has the methods that its contract names.

Where it cannot, no rule is broken: whoever plugged it in is told what is missing.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from inspect import isclass
from itertools import takewhile
from typing import Any

from broker_tck.implementations.interface import Hang
from broker_tck.properties.engine.check import Difference
from broker_tck.properties.engine.choices import SeededChoices
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.subjects import Subject, Unmade
from broker_tck.properties.errors import BadInput
from broker_tck.properties.search.raised import own, raised, traceback_of

TRIED = 3
"""A subject that can be made for none of so many configurations cannot be made."""


def see_made(subject: Subject) -> None:
    """See that a subject can be made. BadInput tells what its factory raises, and where.

    One that says itself that it hangs is for a walk to find.
    """
    made = (rigged(subject, SeededChoices(n)) for n in range(TRIED))
    errors = [rig.error for rig in takewhile(lambda rig: isinstance(rig, Unmade), made)]
    if len(errors) == TRIED and not isinstance(errors[0], Hang):
        error = errors[0]
        where = "; ".join(line.strip() for line in traceback_of(error)[1:-1]) if own(error) else ""
        called = f"its factory is called as {subject.contract.call}"
        raise BadInput(f"{subject.name} cannot be made: {type(error).__name__}: {error} ({where or called})")


def rigged(subject: Subject, choices: SeededChoices) -> Any:
    """A subject on its rig for a configuration that is drawn."""
    return subject.rig(subject.contract.configured(choices, subject.capabilities), subject.capabilities)


def see_whole(subject: Subject, config: Any, operations: Sequence[Operation], difference: Difference) -> None:
    """See that a trace does not fail at a method that the subject lacks. BadInput names it."""
    if not isinstance(difference.seen, dict) or difference.seen.get("error") != "AttributeError":
        return
    error = raised(subject, config, operations)
    if isinstance(error, AttributeError) and not own(error) and error.name in methods(subject.contract):
        raise BadInput(
            f"{subject.name} lacks {error.name}, which {subject.contract.name} asks it for with "
            f"`{operations[-1].tag}`; has it no such thing, its factory may declare so in `capabilities`"
        )


def methods(contract: Contract) -> set[str]:
    """The names that a contract's interface has, of all its parts."""
    module = sys.modules[contract.interface.__module__]
    parts = [part for part in vars(module).values() if isclass(part) and getattr(part, "_is_protocol", False)]
    return {name for part in parts for name in dir(part) if not name.startswith("_")}
