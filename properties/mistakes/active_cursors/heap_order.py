"""Known mistakes: the order of the broker's container of all cursors: a heap, in which a cursor without position cannot be compared."""

from __future__ import annotations

from broker_tck.model.active_cursors.heap_order import HeapOrder
from broker_tck.properties.mistakes.book import instead, of

of(HeapOrder.mends)(
    instead("absent", "", lambda o: False),
)
