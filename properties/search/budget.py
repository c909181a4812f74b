"""The budget of a check: the same for `check`, pytest and a call from Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

WALKS, EXAMPLES = 1000, 60
"""Number of walks, and of examples of the machine, for a subject that is named."""
SHARED_WALKS, SHARED_EXAMPLES = 20, 5
"""The same for each bundled subject, if none is named."""
RESERVE = WALKS
"""Maximum number of further walks of a bundled subject while a rule has not come up."""
FAILING = 12
"""A run ends after this number of failing walks."""


class Budget(NamedTuple):
    """How much of each kind a check does."""

    seed: int = 0
    walks: int = WALKS
    examples: int = EXAMPLES
    reserve: int = 0
    """Maximum number of further walks while a rule has not come up."""
    failing: int = FAILING
    """The run ends after this number of failing walks."""
    fail_fast: bool = False
    """Whether the check ends at the first failing walk or regression."""
    search: int | None = None
    """Number of walks in which to search for each rule that a known profile breaks; None for the default."""
    own_settings: bool = False
    """Whether the machine has the settings of the user's profile of Hypothesis, not those of ``check``."""


USUAL = Budget()
"""The default budget of a named subject."""


def budget(named: bool, *said: Mapping[str, Any], **more: Any) -> Budget:
    """The budget of a subject that is ``named``, or of a bundled one.

    ``said`` are options and settings, the first of which wins; what they leave out is None. ``more`` are other fields.
    """
    found = {
        name: next((given[name] for given in said if given.get(name) is not None), None)
        for name in ("seed", "walks", "examples")
    }
    walks, examples = (WALKS, EXAMPLES) if named else (SHARED_WALKS, SHARED_EXAMPLES)
    usual = {"seed": 0, "walks": walks, "examples": examples}
    reserve = 0 if named or found["walks"] is not None else RESERVE
    return Budget(**usual | {k: v for k, v in found.items() if v is not None}, reserve=reserve, **more)
