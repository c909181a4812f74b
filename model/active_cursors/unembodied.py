"""The rules of active cursors that no clause embodies: laws, and what cannot be checked at this interface."""

from __future__ import annotations

from broker_tck.model.rules import Rule, informative, law

UNEMBODIED: tuple[Rule, ...] = (
    informative(
        "CC-01",
        "A container adds, updates and removes cursors, and tells the slowest position and ranks.",
        source="ActiveManagedCursorContainer",
        why="it describes the interface",
    ),
    informative(
        "CC-06",
        "The list is updated by updateCursor alone, which answers nothing.",
        source="ActiveManagedCursorContainerImpl",
        why="the kit calls nothing else, and expects no answer",
    ),
    informative(
        "CC-08",
        "The list keeps one counter for each position, and a move changes those that it passes.",
        source="ActiveManagedCursorContainerImpl",
        why="it says how ranks are kept; what they are is CC-02 and CC-03",
    ),
    law(
        "CC-P14",
        "Slowest position and ranks are those of a sorted list of positions.",
        source="properties of the containers",
    ),
    law(
        "CC-P15",
        "The slowest position never decreases while cursors only move forward and none is added.",
        source="properties of the containers",
        needs="null_updates",
    ),
    law(
        "CC-P16",
        "A tracked cursor's rank is at least 1, that of the last one the number of tracked cursors.",
        source="properties of the containers",
        needs="ranks",
    ),
    informative(
        "CC-16",
        "Costs grow no faster than the table says: by the logarithm, the distance, or the number of cursors.",
        source="the classes",
        why="costs are measured by `bench cursors`",
    ),
)
