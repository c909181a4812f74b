"""Known mistakes between the steps of calls that overlap."""

from __future__ import annotations

from broker_tck.model.entry_cache.overlapping import LOOKS, WAITS, Did, Getting, Passing, Removing
from broker_tck.model.entry_cache.releases import HandingOn
from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.model.rules import Method
from broker_tck.properties.mistakes.book import around, instead, look_at, of

of(
    Removing.removable,
    look="a removal that does not wait for the lock; a size that is read from an entry which may be gone",
)(
    instead(
        "absent",
        "Your cache removes an entry before its insertion has queued it; it must not.",
        lambda r, entry: True,
        was="steps.removable: absent",
    ),
)
of(Removing.owed, look="entries that are skipped because another was removed beside them")(
    instead(
        "absent",
        "A removal of your cache ends when another call has taken an entry; it must take all that was there.",
        lambda r: [],
        was="steps.owed: absent",
    ),
)
of(Removing.result)(
    instead(
        "absent",
        "A clear of your cache counts the entries that were there at its begin; it must count those that it removes.",
        lambda r: [len(r.due), sum(entry.size for entry in r.due)] if r.answers else None,
        was="steps.removed_by: absent",
    ),
)
of(Getting.choices, look="a value that cannot be retained any more; a miss where the entry was there all along")(
    instead(
        "absent",
        "A read of your cache misses an entry that was there throughout, or hits one that never was; it must not.",
        lambda g: [["ends", "hit"], ["ends", "miss"]] if g.marked or not g.there() else [["marks"]],
        was="steps.answers: absent",
    ),
    instead(
        "never a hit",
        "A read of your cache misses an entry that is there; it must be a hit.",
        lambda g: [["ends", "miss"]],
        was="steps.answers: never a hit",
    ),
)
of(Getting.owes_mark, look="a mark that is left out if the wrapper's lock is not free")(
    instead(
        "absent",
        "A read of your cache ends with a hit and does not mark the entry, which is still there; it must mark it.",
        lambda g: False,
    ),
)
look_at("IL-4", "a key that is not compared once the wrapper is read")


@around(Getting.choices, "IL-4", "absent", was="steps.named: absent")
def of_another_position(choices: Method, call: Getting) -> list[Did]:
    """A read of your cache answers with the value of another position; it must not."""
    return [["ends", "hit of 0 0"] if did == ["ends", "hit"] else did for did in choices(call)]


look_at(
    "IL-2",
    "what happens between the look at the head and the removal: which entry is taken then; what is recycled",
)


@around(Passing.fate, "IL-2", "absent", was="steps.judged: absent")
def judged_when_looked_at(fate: Method, call: Passing) -> Did:
    """A pass of your cache judges the head before it has its lock; it must after that."""
    head = call.head()
    if call.stopped or head is None or not call.then:
        return list(fate(call))
    return ["stops"] if call.then == "stops" else [call.then, *head.position]


of(Passing.blocked, look="two passes that look at one head")(
    instead(
        "absent",
        "Two passes of your cache run side by side; one must wait for the other.",
        lambda p: False,
        was="steps.waits_for: absent",
    ),
)
of(Passing.takes_queue, look="a look at the head before the monitor is held")(
    instead(
        "with the first entry",
        "A pass of your cache looks at the queue, and has it only when it deals with an entry; it must have it before.",
        lambda p, did: did not in (LOOKS, WAITS),
    ),
)
of(HandingOn.taker, look="a read count that is handed to the entry that was found first, not to the one that is there")(
    instead(
        "absent",
        "An insertion that your cache refuses hands its read count to nobody; it must hand it to the entry there.",
        lambda p: None,
    ),
)
of(EntryCaches.total_shown, look="a broker's size that is changed with each entry of a pass")(
    instead(
        "absent",
        "A pass of your cache lowers the broker's size at each removal; it must at its end.",
        lambda m: m.store.total,
    ),
)
