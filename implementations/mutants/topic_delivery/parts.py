"""Subjects around a broken part: the manager of the shared index, but for what its views see."""

from __future__ import annotations

from broker_tck.implementations.interface import Dispatcher
from broker_tck.implementations.topic_delivery.manager import SharedIndexManager
from broker_tck.implementations.topic_delivery.sight import Sight
from broker_tck.implementations.topic_delivery.tracker import View

BRANCH = "PIP-448's branch (unmerged), "


class Recounting(SharedIndexManager):
    """A manager that counts what a view sees each time, as what is broken may not come out even."""

    def count_of(self, view: View) -> int:
        """Look at everything."""
        return sum(len(view.sight.of(held)) for held in self._index.all())

    def _look(self, view: View) -> bool:
        """Look at every bucket that is due."""
        view.nothing_before = 0
        return super()._look(view)


def around_sight(broken: type[Sight]) -> type[SharedIndexManager]:
    """The manager whose views see in this way."""

    class Manager(Recounting):
        """A manager of views that see wrong."""

        def _made(self, dispatcher: Dispatcher) -> View:
            return View(self, dispatcher, broken(dispatcher.mark_delete_position))

    return Manager
