"""Right but unusual managers of a topic's delayed messages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from broker_tck.implementations.interface import Dispatcher, IllegalStateException, Position
from broker_tck.implementations.topic_delivery.manager import SharedIndexManager
from broker_tck.implementations.topic_delivery.tracker import View


class ViewIsGone(IllegalStateException):
    """What a view raises that is closed or stale: more than an IllegalStateException, by its name."""


class Handle:
    """A view that is no more than a number: whatever is asked of it, its manager is asked, with the number."""

    __slots__ = ("_ask", "_number")

    def __init__(self, ask: Callable[..., Any], number: int) -> None:
        self._ask, self._number = ask, number

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(self._ask, name, self._number)

    def __bool__(self) -> bool:
        return False


class CostumedTopic(SharedIndexManager):
    """Views are proxies without methods, and false. They answer with keys of dictionaries; an estimate is 1 or 0."""

    profiles: ClassVar = ("ideal",)

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.views: list[View] = []

    def create_or_get_tracker(self, dispatcher: Dispatcher) -> Any:
        self.views.append(super().create_or_get_tracker(dispatcher))
        return Handle(self.ask, len(self.views) - 1)

    def ask(self, name: str, number: int, *arguments: Any) -> Any:
        """What a view is asked."""
        try:
            return getattr(self.views[number], name)(*arguments)
        except IllegalStateException as error:
            raise ViewIsGone from error

    def hand_out(self, view: View, most: int) -> Any:
        positions: list[Position] = super().hand_out(view, most)
        return dict.fromkeys(positions).keys()

    def get_buffer_memory_usage(self) -> int:
        return int(self._index.count > 0)
