"""The sizes of bulk operations in a walk: powers of two, the thresholds of rules, and their neighbours."""

from __future__ import annotations

from collections.abc import Sequence

from broker_tck.properties.engine.choices import Choices, one_of, weighted

BUDGETS = weighted([(257, 60), (1_025, 70), (4_097, 70), (65_537, 1)])
"""To how many things the operations in bulk of a walk come. Each costs as much as an operation, so much is rare."""
FEW = 64
"""How large an operation in bulk is at most when the budget of its walk is spent."""


def size(choices: Choices, most: int, thresholds: Sequence[int] = ()) -> int:
    """A size from 0 to ``most``: at a threshold, at the highest power of two or any other, or one beside it."""
    kind, largest = choices.below(4), max(most, 1).bit_length() - 1
    within = [threshold for threshold in thresholds if threshold - 1 <= most]
    if kind == 0 and within:
        at = one_of(choices, within)
    else:
        at = 2 ** (largest if kind == 1 else choices.below(largest + 1))
    return min(max(at + choices.below(3) - 1, 0), most)


class Sizes:
    """The sizes of one walk, within a budget."""

    def __init__(self, choices: Choices, thresholds: Sequence[int], budgets: Sequence[int] = BUDGETS) -> None:
        self.choices, self.thresholds = choices, thresholds
        self.left = one_of(choices, budgets)

    def next(self) -> int:
        """A size within what is left of the budget, or a small one."""
        n = size(self.choices, max(self.left, FEW), self.thresholds)
        self.left -= n
        return n
