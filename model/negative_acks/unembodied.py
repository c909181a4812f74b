"""Rules of negative acks that no clause embodies: laws, and what cannot be checked at this interface."""

from __future__ import annotations

from broker_tck.model.rules import Rule, informative, law

UNEMBODIED: tuple[Rule, ...] = (
    informative(
        "NA-02",
        "A request names an entry, so all of its batch comes back with the earliest nack of any message in it.",
        source="PR 24203 (PIP-391)",
        why="what of an entry is delivered again is decided by the broker and the consumer",
    ),
    informative(
        "NA-03",
        "Each single-topic consumer has a tracker of its own; the multi-topic consumer passes nacks on.",
        source="MultiTopicsConsumerImpl, PR 24476",
        why="the kit has one consumer, and so one tracker",
    ),
    informative(
        "NA-04",
        "After an add the consumer takes the entry out of its ack-timeout tracker.",
        source="ConsumerImpl.negativeAcknowledge, PR 20750",
        why="it is the consumer that does it",
    ),
    informative(
        "NA-07",
        "A nack is not asked whether its message was delivered, is acked, or exists.",
        source="NegativeAcksTracker",
        why="a tracker has nothing that it could ask",
    ),
    informative(
        "NA-08",
        "An ack does not cancel a nack.",
        source="ConsumerImpl",
        why="no ack ever reaches the tracker",
    ),
    informative(
        "NA-09",
        "Nothing but close empties the tracker early: no seek, no reconnect, no request of the user's.",
        source="ConsumerImpl",
        why="none of these reaches the tracker",
    ),
    law(
        "NA-14",
        "An item is emitted at most 2^k - 1 ms before its instant.",
        source="follows from NA-13 and NA-30",
    ),
    law(
        "P1",
        "What is emitted was nacked.",
        source="properties of PIP-393",
    ),
    law(
        "P2",
        "Unless the tracker is closed, everything is emitted in the end.",
        source="properties of PIP-393",
    ),
    law(
        "P5",
        "An entry is emitted once for each bucket that it is in; buckets that are due together count as one.",
        source="properties of PIP-393",
    ),
    law(
        "P6",
        "After a firing no bucket is left that was due.",
        source="properties of PIP-393",
    ),
    law(
        "P7",
        "The callback is never given nothing.",
        source="properties of PIP-393",
    ),
    law(
        "P8",
        "One timeout is armed while something is held, and none else.",
        source="properties of PIP-393",
    ),
    law(
        "P9",
        "One more nack makes no other item later.",
        source="properties of PIP-393",
    ),
    law(
        "P10",
        "How late an item is does not depend on another's delay.",
        source="properties of PIP-393",
    ),
    law(
        "P14",
        "The count is that of the entries, each once for every bucket that it is in.",
        source="properties of PIP-393",
    ),
    law(
        "P15",
        "With one precision bit more, two neighbouring buckets become one.",
        source="properties of PIP-393",
    ),
    informative(
        "NA-15",
        "A delay shorter than a bucket may vanish.",
        source="follows from NA-14",
        why="it is NA-14 once more, for short delays",
    ),
    law(
        "NA-16",
        "With an ideal timer, and a wall clock that does not jump, no item is emitted after its instant.",
        source="follows from NA-22, NA-23 and NA-30",
    ),
    informative(
        "NA-20",
        "Clients before PIP-393 poll at a third of the delay, from the first add until a poll finds nothing held.",
        source="NegativeAcksTracker, up to PR 23600",
        why="it describes profile legacy-java, which replaces the clauses of NA-22",
    ),
    informative(
        "NA-21",
        "The Go client ticks at a third of the delay for as long as it lives.",
        source="client-go, negative_acks_tracker.go",
        why="it describes profile go, which replaces the clauses of NA-22",
    ),
    informative(
        "NA-32",
        "An emitted id has no partition and no batch index.",
        source="NegativeAcksTracker, PR 23600",
        why="ids are compared by ledger and entry alone",
    ),
    informative(
        "NA-34",
        "The callback is given the very set that is requested then.",
        source="NegativeAcksTracker",
        why="the kit's callback leaves the set as it is",
    ),
    informative(
        "NA-36",
        "The broker honours an id only while the entry is pending at the consumer.",
        source="Consumer.redeliverUnacknowledgedMessages",
        why="it is the broker's part",
    ),
    informative(
        "NA-50",
        "Instants are sums of 64 bits, which may wrap.",
        source="NegativeAcksTracker",
        why="delays of walks stay below the age of the universe",
    ),
    informative(
        "NA-52",
        "Redelivery counts are those that the broker tells.",
        source="issue 15836",
        why="the kit draws them",
    ),
)
