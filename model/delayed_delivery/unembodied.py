"""The rules of delayed delivery that no clause embodies: laws, and what cannot be checked at this interface."""

from __future__ import annotations

from broker_tck.model.rules import Rule, informative, law

UNEMBODIED: tuple[Rule, ...] = (
    law(
        "DD-07",
        "With an unchanged tick, a message becomes available in [at, at + P - 1] in strict mode, else in "
        "[at - tick, at - tick + P - 1].",
        source="follows from DD-04 to DD-06",
    ),
    law(
        "DD-08",
        "A message that was handed out, offered again with its own time and no smaller tick, is refused.",
        source="follows from DD-05, DD-06 and DD-09; PR 26188, issue 25996",
    ),
    informative(
        "DD-18",
        "Pausing bounds the index where all delays are alike.",
        source="PersistentDispatcherMultipleConsumers",
        why="it is the dispatcher that stops reading; the tracker only answers (DD-17)",
    ),
    informative(
        "DD-25",
        "Rescheduling arms a timeout after a delay, whatever was armed.",
        source="AbstractDelayedDeliveryTracker, PR 26012",
        why="only the bucket tracker calls it, from inside",
    ),
    informative(
        "DD-26",
        "The timer of the released classes aims at 0 at first, so a first key of 0 is taken for armed already.",
        source="AbstractDelayedDeliveryTracker",
        why="no timer is armed for 0, unless for this very moment, as the classes before PR 26012 do; their profiles "
        "begin so",
    ),
    informative(
        "DD-31",
        "A refused entry id leaves an empty bucket behind.",
        source="InMemoryDelayedDeliveryTracker, PR 25681",
        why="the state that follows is a residue of one class; the kit offers only ids that a subject takes",
    ),
    law(
        "DD-34",
        "While a message is held, the first bucket is due now or a timeout is armed.",
        source="follows from DD-21 to DD-24 and DD-33; issue 25996",
    ),
    informative(
        "DD-36",
        "The heap's segments grow by 16 MiB and shrink at half their load.",
        source="TripleLongPriorityQueue",
        why="capacity is one implementation's own; `bench memory` measures it",
    ),
)
