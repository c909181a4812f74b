"""The positions and the sizes that a walk has to do with."""

from __future__ import annotations

from collections.abc import Sequence

from broker_tck.properties.engine.choices import Choices, one_of, weighted

LAST_ID = 2**63 - 2
"""The last ledger, and the last entry: the one after it has to be there as well, as what an interval ends before."""
LARGEST_ENTRY = 2**31 - 1
"""The bytes of an entry are an int."""
MOST_SPANNED = 2**17
"""What is asked of one ledger at once spans so many entry ids at most. A broker asks for some hundreds, and a cache may
look each of them up."""

LEDGER_BASES = (1, 1, 1, 0, 7, 2**31 - 2, 2**32 - 1, 2**62)
ENTRY_BASES = (0, 0, 0, 0, 60, 126, 2**31 - 3, 2**32 - 3)
APART = (1, 1, 31, 64, 2**8, 2**16, 2**20, 2**31, 2**32, 2**53, 2**61)
"""How far apart ledgers, or entries, are that have the same low bits, or make the same number with the other."""
WIDE = 12
"""In one walk of so many positions are as far apart."""

SIZES = ((10_000, 20_000), (0, 1, 10, 100), (10,), (1, 2, 3), (0, 10, 10, 10), (1, 10, 100, 1_000), (40, 50, 30))
WIDE_SIZES = ((127, 128, 255, 256), (1, 32_767, 65_535, 65_536), (2**30, LARGEST_ENTRY, 1), (LARGEST_ENTRY, 2**24 + 1))
"""Sizes at which sums outgrow small integers, and numbers with 24 bits of precision."""
SIZES_OF = weighted([(SIZES, 9), (WIDE_SIZES, 1)])
LARGE = 2**20
"""Of a limit above this, entries take large parts, so that it is reached."""
READS = ((1,), (0, 1), (0, 1, 2), (0, 1, 3, 7), (-1, 0, 1, 2), (2, 3))
WIDE_READS = ((127, 128, 0), (1, 255, 256), (65_535, 65_536, 1), (2**31 - 1_000, 0, 1))
READS_OF = weighted([(READS, 11), (WIDE_READS, 1)])

FEW = 2
"""So many positions are enough where passes go round them hundreds of times."""


def positions(choices: Choices, few: bool) -> list[tuple[int, int]]:
    """A small pool of positions, so that they meet again; now and then with the same low bits."""
    base, ledger = one_of(choices, ENTRY_BASES), one_of(choices, LEDGER_BASES)
    ledgers, size = one_of(choices, (1, 1, 2, 3)), one_of(choices, (2, 4, 8, 12))
    beside = after = 1
    if choices.below(WIDE) == 0:
        beside, after = one_of(choices, APART), one_of(choices, APART)
        ledgers, size = one_of(choices, (1, 2, 2)), one_of(choices, (4, 4, 8))
    pool = [(ledger + i % ledgers * beside, base + i // ledgers * after) for i in range(size)]
    return [position for position in pool[: FEW if few else None] if max(position) <= LAST_ID]


def sizes(choices: Choices, largest: int | None) -> Sequence[int]:
    """The sizes of a walk's entries, under a limit of all."""
    if largest is not None and largest > LARGE:
        return min(largest // 4, LARGEST_ENTRY), min(largest // 3, LARGEST_ENTRY), 1, LARGE
    return one_of(choices, one_of(choices, SIZES_OF))


def expected_reads(choices: Choices) -> Sequence[int]:
    """The reads that are expected of a walk's entries."""
    return one_of(choices, one_of(choices, READS_OF))
