"""Names and positions of walks: few, so that they meet again, and now and then at the widths of numbers and names."""

from __future__ import annotations

from string import ascii_lowercase

from broker_tck.model.active_cursors.specification import Position
from broker_tck.properties.engine.choices import Choices, one_of, weighted

NAMED = (2, 3, 4, 5, 6, 8, 8, 10, 12, 12)
"""How many names a walk has."""
LONG = 55 * "x"
NAMES = weighted(
    [
        ((*ascii_lowercase,), 15),
        (("Aa", "BB", "AaAa", "BBBB", "AaBB", "BBAa", "C#", "Bb"), 1),
        (("a", "A", "b", "B", "c", "C", "d", "D", "e", "E", "f", "F"), 1),
        (("1", "01", "001", "10", "-1", "0", "2", "1.0", "9", "11"), 1),
        (tuple(LONG + letter for letter in ascii_lowercase), 1),
        (tuple((n + 1) * "a" for n in range(12)), 1),
    ]
)
"""Letters, names of one hash in Java, of one spelling, of one number, of one beginning, and beginnings of others."""
SPANS = (2, 4, 6, 12, 30, 30)
"""How many entries of a ledger a walk uses."""
LEDGERS = (*(1,) * 6, 0, -1, 254, 65_534, 2**31 - 1, 2**32 - 1, 2**53 - 1, 2**63 - 3, -(2**31) - 1, -(2**63))
ENTRIES = (*(0,) * 5, -1, -1, -1, -5, 250, 65_530, 2**31 - 3, 2**32 - 3, 2**53 - 3, 2**63 - 30)
APART = weighted([("near", 12), ("twins", 2), ("wide", 2)])
"""How a walk's positions lie: near each other, with twins higher by one bit, or all over the numbers."""
BITS = (8, 16, 20, 24, 31, 32, 40, 48, 53, 62)
HIGHEST = 2**63 - 1
"""Of the ledgers and of the entries."""
ENDS = (HIGHEST, HIGHEST, HIGHEST - 1, -(2**63))
WIDE = (0, 0, 1, *(sign * 2**bit + by for bit in BITS for sign in (-1, 1) for by in (-1, 0)), *ENDS)


def names(choices: Choices) -> list[str]:
    """The names of a walk."""
    return [*one_of(choices, NAMES)[: one_of(choices, NAMED)]]


def positions(choices: Choices) -> list[Position]:
    """The positions of a walk."""
    apart = one_of(choices, APART)
    if apart == "wide":
        ledgers, entries = ([one_of(choices, WIDE) for _ in range(2 + choices.below(3))] for _ in range(2))
        return [(ledger, entry) for ledger in ledgers for entry in entries]
    near = neighbours(choices)
    if apart == "near":
        return near
    bit = 1 << one_of(choices, BITS)
    twins = [twin for ledger, entry in near for twin in ((ledger + bit, entry), (ledger, entry + bit))]
    return near + [twin for twin in twins if max(twin) <= HIGHEST]


def neighbours(choices: Choices) -> list[Position]:
    """Positions that follow one on the other, in one ledger or two."""
    ledger, entry = one_of(choices, LEDGERS), one_of(choices, ENTRIES)
    ledgers, span = one_of(choices, (1, 2)), one_of(choices, SPANS)
    return [(ledger + i % ledgers, entry + i // ledgers) for i in range(ledgers * span)]
