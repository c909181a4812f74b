"""Known mistakes in the specification's lookup."""

from __future__ import annotations

from broker_tck.model.entry_cache.lookup import Lookup, low_bits
from broker_tck.properties.mistakes.book import instead, of

of(Lookup.find, look="a search by identity; a value that is handed out without a reference of its own")(
    instead(
        "absent",
        "Your cache does not find a position that it has; it must, whatever instance names it.",
        lambda f, cache, position: None,
    ),
)
of(Lookup.hands_out)(
    instead(
        "absent", "Your cache hands out a value whose last reference is gone; that is a miss.", lambda f, entry: True
    ),
)
of(Lookup.within, look="the last position; ranges over several ledgers; holes")(
    instead(
        "absent",
        "Your cache answers a range with everything that is cached; it has both its ends.",
        lambda f, position, first, last: True,
    ),
    instead(
        "without the last",
        "A range of your cache leaves its last position out; both ends belong to it.",
        lambda f, position, first, last: first <= position < last,
    ),
    instead(
        "without the first",
        "A range of your cache leaves its first position out; both ends belong to it.",
        lambda f, position, first, last: first < position <= last,
    ),
    instead(
        "of one ledger",
        "Your cache answers a range with what is in its first ledger alone; it goes over ledgers.",
        lambda f, position, first, last: first <= position <= last and position[0] == first[0],
    ),
    instead(
        "by entry alone",
        "Your cache compares entry ids alone when it answers a range; ledgers come first.",
        lambda f, position, first, last: first[1] <= position[1] <= last[1],
    ),
    instead(
        "ledgers of 32 bits",
        "Your cache keeps 32 bits of a ledger id; it has 64.",
        lambda f, position, first, last: low_bits(first) <= low_bits(position) <= low_bits(last),
    ),
)
of(Lookup.in_order)(
    instead(
        "absent",
        "Your cache answers a range in the order of insertion; it must be in ascending order.",
        lambda f, entries: entries,
    ),
)
of(Lookup.invalid, look="the last position; the first ledgers; positions below the first")(
    instead(
        "absent",
        "Your cache removes the position itself up to which it is invalidated; that one must stay.",
        lambda f, position, last, lowest: position <= last,
    ),
    instead(
        "of its ledger",
        (
            "What is invalidated up to a position goes from that position's ledger alone in your cache; all ledgers "
            "before it go as well."
        ),
        lambda f, position, last, lowest: (last[0], 0) <= position < last,
    ),
    instead(
        "the first unasked",
        "Your cache removes its first entry without asking where it is.",
        lambda f, position, last, lowest: position < last or position == lowest,
    ),
)
of(Lookup.in_removal)(
    instead(
        "absent",
        "A removal in your cache always takes the last position of its range; it may only where the range includes it.",
        lambda f, position, first, last, inclusive: first <= position <= last,
    ),
    instead(
        "never inclusive",
        "A removal in your cache never takes the last position of its range; it must where the range includes it.",
        lambda f, position, first, last, inclusive: first <= position < last,
    ),
    instead(
        "without the first",
        "A removal in your cache leaves the first position of its range; it must take it.",
        lambda f, position, first, last, inclusive: first < position <= last if inclusive else first < position < last,
    ),
)
of(Lookup.of_ledger, look="the first entry of the next ledger")(
    instead(
        "absent",
        "A ledger that is dropped leaves its entries in your cache; they must go.",
        lambda f, position, ledger: False,
    ),
    instead(
        "with the next ones first",
        "Your cache takes the first entry of the next ledger along with a ledger that is dropped.",
        lambda f, position, ledger: (ledger, 0) <= position <= (ledger + 1, 0),
    ),
    instead(
        "and those before",
        "A ledger that is dropped takes those before it along in your cache; others must stay.",
        lambda f, position, ledger: position[0] <= ledger,
    ),
    instead(
        "but its first",
        "A ledger that is dropped leaves its first entry in your cache; all of its entries must go.",
        lambda f, position, ledger: position[0] == ledger and position[1] > 0,
    ),
)
