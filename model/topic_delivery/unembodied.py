"""The rules of topic delivery that no clause embodies: laws, and what cannot be checked at this interface."""

from __future__ import annotations

from broker_tck.model.rules import Rule, informative, law

UNEMBODIED: tuple[Rule, ...] = (
    informative(
        "TD-01",
        "There is a factory for a broker, a manager for a topic, and a light tracker, the view, for a dispatcher.",
        source="PIP-448, High Level Design",
        why="how a subject is built inside is its own affair; a subject is the manager of one topic",
    ),
    informative(
        "TD-02",
        "The manager holds the index, the registered views, one timer, and the state of the pruner.",
        source="InMemoryTopicDelayedDeliveryTrackerManager",
        why="state is seen in what the views answer; the rules about it say when",
    ),
    informative(
        "TD-03",
        "A view has a mark-delete position, a dispatcher, and a name.",
        source="InMemoryTopicDelayedDeliveryTrackerManager.SubContext",
        why="state is seen in what the view answers; TD-08, TD-15 and TD-26 say how",
    ),
    law(
        "TD-04",
        "With an unchanged tick no view is handed a message before its time, or more than a tick before it where "
        "delivery is not strict.",
        source="PIP-448: the semantics for users stay identical; T-06, T-07",
    ),
    informative(
        "TD-05",
        "The cut-off of a view is now in strict mode, else now + tick.",
        source="InMemoryTopicDelayedDeliveryTrackerManager",
        why="the views of a topic share the tick; DD-04 has it",
    ),
    informative(
        "TD-07",
        "A position may be in two buckets; each copy counts, and takes one unit of a get's budget.",
        source="InMemoryTopicDelayedDeliveryTrackerManager",
        why="DD-12 and DD-20 have it; as a change of the tick moves no bucket, it takes two times for one message",
    ),
    informative(
        "TD-29",
        "A factory keeps the managers of its topics by name; those of different topics know nothing of each other.",
        source="InMemoryTopicDelayedDeliveryTrackerFactory",
        why="a subject is the manager of one topic",
    ),
    informative(
        "TD-30",
        "A manager without views stays in the factory's cache for the idle time after the last one has left.",
        source="PIP-448, delayedDeliveryTopicManagerIdleMillis",
        why="a subject is the manager of one topic; what the last one frees is TD-28",
    ),
    law(
        "TD-33",
        "What is held does not grow with the number of views: there are no more copies than pairs of a position and a "
        "time that were accepted.",
        source="PIP-448, Goals",
    ),
    law(
        "TD-34",
        "With one view, and without mark-delete positions, every answer is that of delayed delivery.",
        source="PIP-448: the semantics for users stay identical",
    ),
    law(
        "TD-35",
        "While a message is held and no view has one available, a timeout is armed; a view to which one becomes "
        "available is asked to read, or a timeout is armed.",
        source="follows from TD-14, TD-17 and TD-18; T-03, T-04",
    ),
    law(
        "TD-36",
        "A position that every view has passed is not held.",
        source="follows from TD-15 and TD-20; PIP-448, High Level Design",
    ),
    law(
        "TD-37",
        "Nothing is lost: what a view has added, and was neither handed nor has acknowledged or cleared, it counts.",
        source="PIP-448, High Level Design; T-12, T-13",
    ),
)
