"""The version of a container: how many changes there were."""

from __future__ import annotations

from broker_tck.model.rules import Part, rule


class Version(Part):
    """A number that tells whether a container has changed since it was last looked at."""

    def __init__(self) -> None:
        self.number = 0

    @rule("CC-12", source="ManagedCursorContainerImpl", needs="versions")
    def updated(self) -> None:
        """The version grows by one with every add, removal, and update of a cursor that has or gets a position."""
        self.number += 1

    def added(self) -> None:
        """A cursor was added, or one that is there was added again."""
        self.number += 1

    def removed(self) -> None:
        """A cursor was removed."""
        self.number += 1
