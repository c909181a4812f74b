"""The version of a container: how many changes there were."""

from __future__ import annotations

from broker_tck.model.rules import Part, rule


class Version(Part):
    """A number that tells whether a container has changed since it was last looked at."""

    def __init__(self) -> None:
        self.number = 0

    @rule(
        "CC-12",
        "The version grows by one with every add, removal, and update of a cursor that has or gets a position.",
        source="ManagedCursorContainerImpl",
        look="updates of names that are not there; updates to the same position, which count",
        needs="versions",
        when=lambda v: True,
    )
    def updated(self) -> None:
        """A cursor was updated that has a position, or gets one."""
        self.number += 1

    def added(self) -> None:
        """A cursor was added, or one that is there was added again."""
        self.number += 1

    def removed(self) -> None:
        """A cursor was removed."""
        self.number += 1
